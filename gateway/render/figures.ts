import type { StatusEvent } from "../../src/protocol/event.ts";
import { clip, plainText } from "./defuse.ts";

/** The small line under an answer: `-# model · 12 s · 3.1k tokens · context 14 % · $0.02`. */
export function footer(status: StatusEvent, duration_ms: number = status.duration_ms): string {
  const figures = [
    plainText(clip(status.model ?? status.model_alias, 40)),
    durationText(duration_ms),
    `${countText(status.total_tokens)} tokens`,
    `context ${percentText(status.pct)} %`,
    ...(status.cost_usd === undefined ? [] : [costText(status.cost_usd)]),
  ];
  return `-# ${figures.join(" · ")}`;
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `812`, `3.1k`, `1.2M`. */
export function countText(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** `12 kB`: what a file weighs. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** A moment, as each reader's own clock shows it. */
export function momentText(iso: string, style: "t" | "R" | "f" = "t"): string {
  const seconds = Math.floor(Date.parse(iso) / 1000);
  return Number.isFinite(seconds) ? `<t:${seconds}:${style}>` : "an unknown time";
}

function percentText(percent: number): string {
  return percent > 0 && percent < 1 ? "<1" : String(Math.round(percent));
}

function costText(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`;
}
