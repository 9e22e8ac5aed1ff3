import type { Diagnosis } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { clip, plainText } from "../render/defuse.ts";
import { isAdmin, tell } from "./common.ts";
import { command } from "./interaction.ts";

const REPORT_LENGTH_MAX = 1900;

/** What works here and what does not, each failure with its fix; for admins. */
export const doctorCommand = command(
  { name: "doctor", description: "Check what I need to work here (for admins)" },
  async (gateway, press) => {
    await press.defer({ private: true });
    if (!(await isAdmin(gateway, press.person))) return tell(press, "Only admins may ask for this.");
    const findings = [await serverFinding(gateway), ...(await gateway.adapter.diagnose(press.place, press.person.id))];
    const failed = findings.filter(({ fix }) => fix !== null).length;
    const head = failed === 0 ? "Everything works." : `${failed} of ${findings.length} checks need you.`;
    await tell(press, clip([head, ...findings.map(findingText)].join("\n"), REPORT_LENGTH_MAX));
  },
);

async function serverFinding({ server }: Gateway): Promise<Diagnosis> {
  const health = await server.health();
  if (!health.ok) return { part: "Server", says: health.error, fix: "Look at the server's log." };
  const { status, version } = health.value;
  const fix = status === "ok" ? null : "Look at the server's log, and at the model's settings.";
  return { part: "Server", says: `version ${version}, ${status}`, fix };
}

function findingText({ part, says, fix }: Diagnosis): string {
  const line = `${fix === null ? "✓" : "✗"} **${part}**: ${plainText(says)}`;
  return fix === null ? line : `${line}\n  → ${plainText(fix)}`;
}
