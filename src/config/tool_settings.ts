import { address, choice, list, names, rows, section, text, verbatim, whole, yesNo } from "./field.ts";
import type { ValueOf } from "./field.ts";
import { path } from "./paths.ts";

/** `[tools]`. */
export const tools = section({
  // The tool's own parameter ends at ten minutes, and a default beyond it would be one that nobody could ask for.
  timeout: whole({
    minimum: 1,
    maximum: 600,
    about: "seconds that a command may take",
    flag: "tool-timeout <seconds>",
    fallback: 120,
  }),
  truncation: whole({
    minimum: 0,
    maximum: 10_000_000,
    about: "characters of a result; 0 follows the context window",
    flag: "tool-truncation <characters>",
    fallback: 0,
  }),
  agent_max_turns: whole({ minimum: 1, maximum: 1000, about: "model calls of a sub-agent", fallback: 50 }),
  skip_permissions: yesNo({
    about: "runs every tool without asking, whoever speaks",
    flag: "skip-permissions",
    fallback: false,
  }),
  search: choice(["auto", "on", "off"], {
    about: "whether tools are searched for instead of listed",
    flag: "tool-search <mode>",
    fallback: "auto",
  }),
  search_threshold: whole({
    minimum: 1,
    maximum: 100_000,
    about: "number of tools from which auto searches",
    flag: "tool-search-threshold <number>",
    fallback: 20,
  }),
  search_max_results: whole({
    minimum: 1,
    maximum: 100,
    about: "tools that one search finds",
    flag: "tool-search-max-results <number>",
    fallback: 5,
  }),
  python: path({
    about: "interpreter for maths",
    fallback: null,
    shown: "/usr/bin/python3, else the first on the path",
  }),
  allow_private: list(named("host:port, such as intranet.local:8443", /^[^\s/]+:\d{1,5}$/), {
    about: "private hosts that web_fetch may reach",
  }),
  environment_allow: list(named("the name of a variable", /^[A-Za-z_][A-Za-z0-9_]*$/), {
    about: "variables that commands see although they look like secrets",
  }),
  man_help_allow: list(named("the name of a program", /^[A-Za-z0-9][A-Za-z0-9._+-]*$/), {
    about: "programs that man may ask for --help when there is no manual",
  }),
});

function named(allowed: string, pattern: RegExp): ReturnType<typeof text<null>> {
  return text({ about: allowed, allowed, fallback: null, accept: (value) => pattern.test(value) });
}

/** `[sandbox]`. */
export const sandbox = section({
  mode: choice(["auto", "required", "off"], { about: "whether commands run under bubblewrap", fallback: "auto" }),
  network: yesNo({ about: "whether commands in the sandbox reach the network", fallback: true }),
});

const rule = section({
  action: choice(["allow", "ask", "deny"], { about: "what happens to such a call", fallback: "deny", required: true }),
  tool: text({ about: "a tool's name; a * at its end stands for any rest", fallback: "", required: true }),
  pattern: text({ about: "the command, path or address; * stands for anything", fallback: null, shown: "every call" }),
  users: list(text({ about: "a user name", fallback: null }), { about: "for whom; empty for everybody" }),
  reason: text({ about: "what people and the model are told", fallback: null }),
});

/** `[approval]`. */
export const approval = section({
  timeout: whole({
    minimum: 0,
    maximum: 31_536_000,
    about: "seconds until a question expires; 0 waits for ever",
    fallback: 0,
  }),
  judge: text({ about: "the alias of a model that grades what people are asked", fallback: null }),
  auto_approve_below: choice(["none", "medium", "high"], {
    about: "calls that the judge grades below this run unasked, where the owner alone speaks",
    fallback: "none",
  }),
  rules: rows(rule),
});

const mcpServer = section({
  type: choice(["stdio", "http", "streamable-http", "sse"], {
    about: "how it is spoken to",
    fallback: null,
    shown: "stdio with a command, http with a url",
  }),
  command: text({ about: "the program to start", fallback: null }),
  args: list(verbatim({ about: "an argument", fallback: "" }), { about: "its arguments" }),
  env: names(verbatim({ about: "a variable of its environment", fallback: "" }), /^[^=\0]+$/, "the name of a variable"),
  url: address({ about: "where it listens", fallback: null }),
  headers: names(
    verbatim({ about: "a header of each request", fallback: "" }),
    /^[\w!#$%&'*+.^`|~-]+$/,
    "the name of a header",
  ),
  oauth_client_id: text({
    about: "what the server's sign-in knows us by",
    fallback: null,
    shown: "registered when needed",
  }),
  oauth_client_secret: text({ about: "the secret to it", fallback: null, secret: true }),
  oauth_scope: text({
    about: "what people are asked to allow, by scopes",
    fallback: null,
    shown: "what the server asks for",
  }),
});

// Any name is read here: the one that cannot be used costs its own server, not the start.
export const MCP_SERVERS = names(mcpServer, /^/, "a name");
export type McpServers = ValueOf<typeof MCP_SERVERS>;

/** `[mcp]`. */
export const mcp = section({
  config_path: path({
    about: "a JSON file with mcpServers, read instead of [mcp.servers]",
    flag: "mcp-config <file>",
    fallback: null,
  }),
  refresh_interval: whole({
    minimum: 0,
    maximum: 31_536_000,
    about: "seconds between two looks at the tools of servers that do not push; 0 for never",
    flag: "mcp-refresh-interval <seconds>",
    fallback: 14_400,
  }),
  servers: MCP_SERVERS,
});
