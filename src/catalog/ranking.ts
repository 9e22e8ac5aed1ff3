import type { ExternalTool } from "../contracts/external_tools.ts";

export interface RankedName {
  name: string;
  score: number;
}
export class ToolIndex {
  setServer(_server: string, _tools: readonly ExternalTool[]): void {}
  search(_query: string): RankedName[] {
    return [];
  }
}
