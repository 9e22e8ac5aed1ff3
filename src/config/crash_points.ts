import { armCrashPoints } from "../lib/crash_point.ts";

/** Set by the crash tests alone, and so no setting: the file that says where this process is to be killed. */
export const CRASH_POINTS_VARIABLE = "TURNSTONE_CRASH_POINTS";

/** Arms the points of this process where the tests ask for it. */
export function armCrashPointsFromEnvironment(): void {
  armCrashPoints(process.env[CRASH_POINTS_VARIABLE]);
}
