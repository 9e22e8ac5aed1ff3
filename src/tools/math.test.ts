import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { Tool } from "../contracts/tool.ts";
import { createSpawner } from "../lib/spawn.ts";
import { createMath } from "./math.ts";
import { createSandbox, type Isolation } from "./sandbox.ts";

const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", SECRET: "do-not-tell" };
const spawner = createSpawner({ env });
let isolation: Isolation;
let sealed: Tool;
let bare: Tool;
beforeAll(async () => {
  isolation = await createSandbox({ mode: "auto", network: true, hidden_paths: [], home: "/root", env }, spawner);
  sealed = createMath({ env, isolation });
  bare = createMath({ env, isolation: { sandbox: null, required: false, reason: "off" } });
});
afterAll(() => spawner.close());

let bench: ToolBench;
beforeEach(() => {
  bench = toolBench({ spawner });
});
afterEach(() => bench.remove());

async function math(code: string, tool: Tool = sealed): Promise<string> {
  const result = await bench.call(tool, { code });
  return result.prepared ? result.output : `refused: ${result.error}`;
}

test.each([
  ["1 + 1", "2"],
  ["import math; math.pi", "3.141592653589793"],
  ["print('a')\n2", "a"],
  ["result = 42", "42"],
  ["x = symbols('x')\nintegrate(sin(x) * exp(x), x)", "exp(x)*sin(x)/2 - exp(x)*cos(x)/2"],
  [
    "np.linalg.det(np.eye(3)), special.gamma(5.0), scipy.optimize.root_scalar(lambda t: t - 1, bracket=[0, 3]).converged",
    "(1.0, 24.0, True)",
  ],
  ["Fraction(1, 3) + Decimal(1).is_finite()", "4/3"],
  ["def f(n):\n    return n\n\nf('é😀')", "é😀"],
  ["len(str(7**50000))", "42255"],
])("%s", async (code, output) => {
  expect(await math(code)).toBe(output);
});

test("what shows nothing says how to show something (CALC-04)", async () => {
  expect(await math("x = 1")).toBe("(no output; use print() to show a value)");
});

test("a fault is told with its line", async () => {
  expect(await math("x = 1\ny = x / 0")).toMatch(
    /^Traceback.*line 2, in <module>\n +y = x \/ 0\n.*\nZeroDivisionError: division by zero$/s,
  );
  expect(await math("print('before')\n1 +")).toMatch(/line 2\n.*SyntaxError/s);
  expect(await math("raise SystemExit('why')")).toBe("why");
  expect(await math("input()")).toMatch(/EOFError/);
});

test("nothing leaks from one call to the next (REQ-TOOL-020)", async () => {
  await math("import builtins; builtins.left = 1; math.pi = 3; sympy.left = 2; LEFT = 4");
  expect(
    await math("(hasattr(__import__('builtins'), 'left'), math.pi > 3.1, hasattr(sympy, 'left'), 'LEFT' in globals())"),
  ).toBe("(False, True, False, False)");
  expect(await math("random.random()")).not.toBe(await math("random.random()"));
  expect(await math("np.random.rand()")).not.toBe(await math("np.random.rand()"));
});

// REQ-TOOL-021
test("reflection finds a way to the system, and the system holds nothing (CALC-01, CALC-02)", async () => {
  writeFileSync(bench.path("file"), "do-not-tell");
  const code = `
os = random._os
wrapper, = (c for c in ().__class__.__mro__[1].__subclasses__() if c.__name__ == '_wrap_close')
system = wrapper.__init__.__globals__['system']
print(operator.attrgetter('__globals__')(lambda: 0)['__name__'])
print(*(os.path.exists(path) for path in (${JSON.stringify(bench.root)}, '/etc/passwd', '/proc', '/root')))
for action in ("os.listdir('/home')", "open('/tmp/x', 'w')", "open('/dev/shm/x', 'w')", "os.fork()", "os.mkdir('/x')",
               "os.system('id')", "system('id')", "os.posix_spawn('/usr/bin/id', ['id'], {})", "os.setuid(0)", "os.kill(1, 9)"):
    try: print(action, eval(action))
    except BaseException as error: print(action, type(error).__name__)
`;
  const text = await math(code);
  expect(text).toContain("False False False False\n");
  expect(text).not.toContain("do-not-tell");
  expect(text).not.toContain("uid=");
  for (const refused of [
    "os.listdir('/home') FileNotFoundError",
    "os.fork() BlockingIOError",
    "os.setuid(0) PermissionError",
  ]) {
    expect(text).toContain(refused);
  }
  expect(text).toMatch(/open\('\/tmp\/x', 'w'\) (?:OSError|FileNotFoundError|PermissionError)/);
  expect(text).toMatch(/open\('\/dev\/shm\/x', 'w'\) (?:OSError|PermissionError)/);
  expect(text).toMatch(/os.mkdir\('\/x'\) (?:OSError|PermissionError)/);
  expect(await math("40 + 2")).toBe("42");
});

test("there is no network, not even to this machine", async () => {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const code = `import socket
for host in ("127.0.0.1", "1.1.1.1"):
    try: socket.create_connection((host, ${port}), 2); print("open")
    except OSError as error: print("closed")`;
  expect(await math(code)).toBe("closed\nclosed");
});

test("native code gets no further: no processes, no speaking for the interpreter", async () => {
  const code = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.fork(), libc.kill(-1, 9), libc.ptrace(16, 1, 0, 0))
for fd in range(3, 200):
    try: os.write(fd, b'{"end": {"exit_code": 0}}\\n'); print("wrote", fd)
    except OSError: pass`;
  expect(await math(code)).toBe("-1 -1 -1");
  expect(await math("1")).toBe("1");
});

test.each([
  ["memory", "x = [0] * 10**9", /MemoryError/],
  ["memory of arrays", "np.ones(10**9).sum()", /allocate|MemoryError/],
  ["memory bit by bit", "x = []\nwhile True: x.append(bytearray(10**6))", /MemoryError/],
  ["output", "while True: print('a' * 10**6)", /Stopped, since it printed more than 1 MiB/],
  ["output at once", "print('a' * (3 * 10**8))", /Stopped, since it printed more than 1 MiB/],
  ["digits", "print(2**10**8)", /Exceeds the limit|Stopped/],
])("%s ends at its limit (CALC-03)", async (_name, code, expected) => {
  bench.with({ timeout_s: 20, output_limit: 10_000 });
  const text = await math(code);
  expect(text).toMatch(expected);
  expect(text.length).toBeLessThanOrEqual(10_000);
});

test.each([
  "while True: pass",
  "9**9**9",
  "import time; time.sleep(100)",
  "try:\n    while True: pass\nexcept BaseException:\n    pass",
])("%s is over in time (CALC-03)", async (code) => {
  bench.with({ timeout_s: 2 });
  expect(await math(code)).toMatch(/\[Stopped after 2 s/);
  expect(await math("'well'")).toBe("well");
});

test("a cancelled call ends, and the next one runs", async () => {
  const abort = new AbortController();
  bench.with({ signal: abort.signal, emit: () => abort.abort() });
  expect(await math("print('here', flush=True)\nwhile True: pass")).toBe("here\n[Cancelled by the user.]");
  bench.with({ signal: new AbortController().signal, emit: () => {} });
  expect(await math("1 + 2")).toBe("3");
});

test("calls at the same time do not wait for each other", async () => {
  expect(await Promise.all([math("print(1)"), math("print(2)"), math("print(3)")])).toEqual(["1", "2", "3"]);
});

test("without a sandbox it says so, and the limits hold all the same", async () => {
  expect(await bare.prepare({ code: "1" }, bench.context)).toMatchObject({
    notes: [expect.stringContaining("without a sandbox")],
  });
  bench.with({ timeout_s: 2 });
  expect(await math("1 + 1", bare)).toBe("2");
  expect(await math("sorted(random._os.environ)", bare)).not.toContain("SECRET");
  expect(await math("random._os.fork()", bare)).toContain("BlockingIOError");
  expect(await math("random._os.kill(-1, 0) if random._os.getuid() == 0 else 'not root'", bare)).toBe(
    "'not root'".slice(1, -1),
  );
  expect(await math("while True: pass", bare)).toMatch(/Stopped after 2 s/);
});

test("where a sandbox is required and missing, nothing is calculated", async () => {
  const tool = createMath({ env, isolation: { sandbox: null, required: true, reason: "bubblewrap is missing." } });
  expect(await math("1", tool)).toMatch(/^refused: .*bubblewrap is missing/);
});

test("missing libraries are named with the way to install them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "python-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "bin"));
  symlinkSync("/usr/bin/python3", join(folder, "bin/python3"));
  // A virtual environment is a Python without the system's packages.
  writeFileSync(join(folder, "pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\n");
  expect(existsSync("/usr/bin/python3")).toBe(true);
  const tool = createMath({ env, isolation, python: join(folder, "bin/python3") });
  expect(await math("1 + 1", tool)).toBe("2");
  expect(await math("sympy.pi", tool)).toMatch(
    /NameError.*\[Not installed for this Python: sympy, numpy, scipy\. On Debian: apt install python3-sympy .*\]$/s,
  );
});

test("a Python that is not there is an answer", async () => {
  const tool = createMath({ env, isolation, python: "/no/python3" });
  expect(await math("1", tool)).toMatch(/^There is no Python 3/);
});
