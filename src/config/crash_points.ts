import { armCrashPoints } from "../lib/crash_point.ts";

/** Set by the crash tests alone, and so no setting: the file that says where this process is to be killed. */
export function armCrashPointsFromEnvironment(): void {
  armCrashPoints(process.env["TURNSTONE_CRASH_POINTS"]);
}
