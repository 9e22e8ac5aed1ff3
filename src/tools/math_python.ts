/**
 * The interpreter that waits with everything imported. For each line of JSON on its standard input it forks a process
 * that runs the code under limits, and reports on its standard output in lines of JSON: `{"ready"}` once, then
 * `{"out"}` (base64) as output comes and `{"end"}` for each call. A line that comes while a call runs cancels that
 * call.
 *
 * The forked process holds none of the interpreter's descriptors, so it cannot speak in its name; as root it also
 * becomes another user. The interpreter is the first process of its namespace where there is a sandbox, so that
 * nothing inside can end it and it can end everything inside.
 */
export const MATH_SERVER = String.raw`
import ast, base64, ctypes, json, linecache, os, resource, select, signal, sys, time, traceback

ALONE = os.getpid() == 1 and sys.argv[1] == "sandboxed"
# Nobody's number: no file and no other process belongs to it.
UNPRIVILEGED = 64321
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

SYMPY_NAMES = """symbols Symbol Function solve solveset dsolve nsolve simplify expand factor apart cancel together
collect Eq Ne Lt Le Gt Ge sqrt cbrt root Rational Integer Float pi E I oo nan zoo sin cos tan asin
acos atan sinh cosh tanh exp log ln factorial binomial gcd lcm prime isprime primerange nextprime
factorint divisors totient mod_inverse Matrix eye zeros ones diag integrate diff limit series Sum
Product summation product floor ceiling Abs sign re im conjugate arg Derivative Integral Piecewise
And Or Not S N sympify latex pprint Poly roots lambdify fibonacci""".split()


def build_namespace():
    names, missing = {"__name__": "__main__"}, []
    modules = "math fractions itertools functools operator collections decimal random string re cmath statistics"
    for module in modules.split():
        names[module] = __import__(module)
    names["Fraction"], names["Decimal"] = names["fractions"].Fraction, names["decimal"].Decimal
    python_re = names["re"]
    try:
        import sympy
        names["sympy"] = sympy
        names.update((name, getattr(sympy, name)) for name in SYMPY_NAMES if hasattr(sympy, name))
        names["re"] = python_re
    except ImportError:
        missing.append("sympy")
    try:
        import numpy
        names["numpy"] = names["np"] = numpy
    except ImportError:
        missing.append("numpy")
    try:
        import scipy
        names["scipy"] = scipy
    except ImportError:
        missing.append("scipy")
    return names, missing


LATER = {"special", "optimize", "comb", "perm", "gamma", "beta"}


def complete(names):
    """Imports what takes long and is seldom needed in a first calculation."""
    if "scipy" in names and "special" not in names:
        import scipy.special, scipy.optimize
        names.update(special=scipy.special, optimize=scipy.optimize)
        names.update((name, getattr(scipy.special, name)) for name in ("comb", "perm", "gamma", "beta"))


def say(message):
    os.write(1, json.dumps(message).encode() + b"\n")


class Counter:
    """Standard output that knows whether anything was written."""

    def __init__(self, stream):
        self.stream, self.used = stream, False

    def write(self, text):
        self.used = self.used or bool(text)
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


def run_code(code, names):
    linecache.cache["<math>"] = (len(code), None, code.splitlines(True), "<math>")
    sys.stdout = Counter(sys.stdout)
    try:
        tree = ast.parse(code, "<math>")
        if any(isinstance(node, ast.Name) and node.id in LATER for node in ast.walk(tree)):
            complete(names)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<math>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<math>", "eval"), names) if last else None
        if not sys.stdout.used:
            value = names.get("result") if value is None else value
            if value is not None:
                print(value)
        return 0
    except SystemExit as exit:
        if isinstance(exit.code, str):
            print(exit.code)
        return exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except SyntaxError as error:
        print("".join(traceback.format_exception_only(error)), end="")
    except MemoryError:
        print("MemoryError: the limit of memory is reached")
    except BaseException as error:
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename != "<math>":
            own = own.tb_next
        print("".join(traceback.format_exception(type(error), error, own)), end="")
    return 1


def limit(call):
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for name, value in (
        ("AS", call["memory"]),
        ("CPU", call["cpu_s"]),
        ("FSIZE", 0),
        ("CORE", 0),
        ("NOFILE", 64),
        # Neither processes nor threads.
        ("NPROC", 0),
    ):
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))


def child(call, output, names):
    try:
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 4096)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit(call)
        sys.set_int_max_str_digits(100_000)
        names["random"].seed()
        if "numpy" in names:
            names["numpy"].random.seed()
        code = run_code(call["code"], names)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = 70
    os._exit(code & 255)


def watch(pid, source, call):
    """Passes output on until the process has ended. Says why it was stopped, or None."""
    deadline, left = time.monotonic() + call["wall_s"], call["output_bytes"]
    while True:
        ready, _, _ = select.select([source, 0], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return "timed_out"
        if 0 in ready:
            return "cancelled"
        piece = os.read(source, 65536)
        if not piece:
            return None
        say({"out": base64.b64encode(piece[:left]).decode()})
        left -= len(piece)
        if left <= 0:
            return "flooded"


def serve(call, names):
    source, output = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(call, output, names)
    os.close(output)
    stopped = watch(pid, source, call)
    os.kill(pid, signal.SIGKILL)
    if ALONE:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os.close(source)
    _, status, usage = os.wait4(pid, 0)
    used = usage.ru_utime + usage.ru_stime
    exit_code = os.waitstatus_to_exitcode(status)
    out_of_cpu = stopped is None and exit_code < 0 and used >= call["cpu_s"] - 1
    say({"end": {"stopped": "timed_out" if out_of_cpu else stopped, "exit_code": exit_code}})


def main():
    names, missing = build_namespace()
    # Another process of the same user must not look into this one.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    say({"ready": {"missing": missing}})
    pending = b""
    served = False
    while True:
        if served and not select.select([0], [], [], 1)[0]:
            complete(names)
        piece = os.read(0, 65536)
        if not piece:
            os._exit(0)
        *lines, pending = (pending + piece).split(b"\n")
        for line in lines:
            if line.strip() and line != b"cancel":
                serve(json.loads(line), names)
                served = True


main()
`;
