import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseShell } from "./shell_words.ts";

const words = (script: string): string[][] =>
  parseShell(script).commands.map((command) => command.words.map((word) => word.text));

test.each<[string, string[][]]>([
  ["git status", [["git", "status"]]],
  ["a && b || c; d & e | f |& g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]],
  ["echo 'a b' \"c d\" e\\ f g'h'\"i\"", [["echo", "a b", "c d", "e f", "ghi"]]],
  ["r\\m -r'f' \"/\"", [["rm", "-rf", "/"]]],
  ['echo "a \'b\' \\"c\\" \\n"', [["echo", "a 'b' \"c\" \\n"]]],
  ["(cd x; ls) > out 2>&1", [["cd", "x"], ["ls"], []]],
  ["X=1 Y='2 3' env", [["env"]]],
  [
    'echo $(rm a) "$(rm b)" `rm c`',
    [
      ["rm", "a"],
      ["rm", "b"],
      ["rm", "c"],
      ["echo", "$(rm a)", "$(rm b)", "`rm c`"],
    ],
  ],
  [
    "cat <(sort x)",
    [
      ["sort", "x"],
      ["cat", "<(sort x)"],
    ],
  ],
  ["if test -f x; then rm x; else ls; fi", [["test", "-f", "x"], ["rm", "x"], ["ls"]]],
  [
    "for f in *.txt $(find .); do cat $f; done",
    [
      ["find", "."],
      ["cat", "$f"],
    ],
  ],
  ["while read l; do echo $l; done < in", [["read", "l"], ["echo", "$l"], []]],
  ["{ a; b; }", [["a"], ["b"]]],
  ["f() { rm x; }; f", [["rm", "x"], ["f"]]],
  ["function g { rm y; }\ng", [["rm", "y"], ["g"]]],
  ["echo a # rm -rf /\nls", [["echo", "a"], ["ls"]]],
  ["echo a#b", [["echo", "a#b"]]],
  ["cat <<EOF\nrm -rf /\nEOF\nls", [["cat"], ["ls"]]],
  ["cat <<-'E' | sh\n\tx $(y)\n\tE\nls", [["cat"], ["sh"], ["ls"]]],
  ["a \\\n  b", [["a", "b"]]],
  ["echo ${x:-y} $((1+2)) $x", [["echo", "${x:-y}", "$((1+2))", "$x"]]],
])("%s", (script, expected) => {
  expect(words(script)).toEqual(expected);
});

test("a word is literal only when bash changes nothing in it", () => {
  const [command] = parseShell('x \'a*\' b* $c "$d" ~/e {f,g} "h i" k~').commands;
  expect(command?.words.map((word) => word.literal)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    true,
    true,
  ]);
});

test("redirections, pipes and the background are told", () => {
  const [one, two] = parseShell("a 2> /dev/sda >>log | b &").commands;
  expect(one?.redirections).toEqual([
    { operator: "2>", target: { text: "/dev/sda", literal: true } },
    { operator: ">>", target: { text: "log", literal: true } },
  ]);
  expect([one?.piped, two?.piped, two?.background]).toEqual([false, true, true]);
});

test.each([
  "echo 'open",
  'echo "open',
  "(ls",
  "ls )",
  "cat <<EOF\nnever",
  "case $x in a) rm y;; esac",
  "a=(1 2)",
  'x "${y:-$(z)}"',
])("%s is not understood for sure", (script) => expect(parseShell(script).doubts).not.toEqual([]));

test("plain scripts leave no doubt", () => {
  expect(parseShell('cd x && make -j2 2>&1 | tail -n 5; echo "$?"').doubts).toEqual([]);
});

test("any text ends, and long ones in time", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."$(){}`'\"\\;&|<># \nab=[]!".split("")), maxLength: 200 }),
      (script) => void parseShell(script),
    ),
  );
  const start = performance.now();
  for (const part of ["$(", "a ", "`", "'", "<<E\n", "((", "${"]) parseShell(part.repeat(50_000));
  expect(performance.now() - start).toBeLessThan(5000);
});
