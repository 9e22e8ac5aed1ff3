/** Whether npm runs this process as one of its scripts, as far as the environment tells. */
export function isNpmScript(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return environment["npm_lifecycle_event"] !== undefined;
}
