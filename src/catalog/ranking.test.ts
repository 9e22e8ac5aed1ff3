import { expect, test } from "vitest";
import {
  has_tool_search_data,
  manyTools,
  publicTasks,
  toolToFind as tool,
} from "../../test/support/tool_search_data.ts";
import { ToolIndex } from "./ranking.ts";

function indexOf(...tools: [string, string][]): ToolIndex {
  const index = new ToolIndex();
  index.setServer(
    "s",
    tools.map(([name, about]) => tool("s", name, about)),
  );
  return index;
}

function found(index: ToolIndex, query: string): string[] {
  return index.search(query).map(({ name }) => name.slice("mcp__s__".length));
}

test("words that are members of every object are words like others (TSRCH-01)", () => {
  const index = indexOf(
    ["describe", "calls toString on a value"],
    ["constructor", "makes a value"],
    ["other", "nothing"],
  );
  expect(found(index, "constructor")).toEqual(["constructor"]);
  expect(found(index, "toString")[0]).toBe("describe");
  for (const word of ["__proto__", "hasOwnProperty", "valueOf"]) {
    expect(index.search(word).every(({ score }) => Number.isFinite(score))).toBe(true);
  }
});

test("odd queries find what they can and never fail (TSRCH-05)", () => {
  const index = indexOf(
    ["search_repos", "Search GitHub"],
    ["weather", "查询城市天气预报"],
    ["get_XMLDocument", "gets it"],
  );
  for (const query of ["", "   ", "!!!", "🙂", "x".repeat(10_240)]) expect(found(index, query)).toEqual([]);
  expect(found(index, "searchRepos")[0]).toBe("search_repos");
  expect(found(index, "search-repos")[0]).toBe("search_repos");
  expect(found(index, "天气")).toEqual(["weather"]);
  expect(found(index, "xml documents")[0]).toBe("get_XMLDocument");
  expect(found(index, `${"lorem ipsum ".repeat(900)}repos`)).toEqual([]);
});

test("ties keep the order of the list (TSRCH-05)", () => {
  const index = indexOf(["b", "sends a letter"], ["a", "sends a letter"], ["c", "sends a letter"]);
  expect(found(index, "letter")).toEqual(["b", "a", "c"]);
});

test("forms of a word, its synonyms, and what a path stands for are found", () => {
  const index = indexOf(
    ["write_file", "Writes text"],
    ["list_directory", "Shows entries"],
    ["delete_branch", "Removes it"],
    ["convert_markdown", "Markdown to a mind map"],
  );
  expect(found(index, "deleting branches")[0]).toBe("delete_branch");
  expect(found(index, "folder")[0]).toBe("list_directory");
  expect(found(index, "save it to /srv/markdown/report.txt")[0]).toBe("write_file");
});

test("a rare word counts more than common ones, and a name more than a description", () => {
  const index = indexOf(
    ...["user", "item", "order", "place", "page", "price"].map((noun): [string, string] => [
      `get_${noun}`,
      `Get the data of the ${noun}`,
    ]),
    ["get_whois", "Get a record"],
    ["other_tool", "Knows whois and more"],
  );
  expect(found(index, "get the whois data").slice(0, 2)).toEqual(["get_whois", "other_tool"]);
});

test("words that name nothing find nothing, unless they are all that is asked", () => {
  const index = indexOf(["about_us", "What we are about"], ["rain", "Rain of the day"]);
  expect(found(index, "what is it about the rain")).toEqual(["rain"]);
  expect(found(index, "about")).toEqual(["about_us"]);
});

test("what a server is about helps those of its tools that do not say it themselves", () => {
  const index = new ToolIndex();
  const chess = ["board", "opening", "mate"].map((what) => tool("c", `show_${what}`, `A chess ${what}`));
  index.setServer(
    "other",
    ["save_game", "show_score", "end_round"].map((name) => tool("other", name, "Keeps the game")),
  );
  index.setServer("c", [...chess, tool("c", "save_game", "Keeps the game")]);
  expect(index.search("save the chess game").map(({ name }) => name)[0]).toBe("mcp__c__save_game");
});

test("many tools of nearly one name leave room for another", () => {
  const kinds = ["red", "blue", "green", "white", "black", "brown"];
  const index = indexOf(
    ...kinds.map((kind): [string, string] => [`add_${kind}_note`, "Adds a note"]),
    ["book_of_note", "Keeps a note"],
    ...kinds.map((kind): [string, string] => [`paint_${kind}`, "Paints"]),
  );
  const first = found(index, "note");
  expect(first[0]).toMatch(/^add_\w+_note$/);
  expect(first.slice(0, 5)).toContain("book_of_note");
});

test("a name that is spelt out comes first, whatever else there is", () => {
  const index = new ToolIndex();
  for (let server = 0; server < 5; server += 1) index.setServer(`s${server}`, manyTools(`s${server}`));
  for (const wanted of manyTools("s3")) {
    expect(index.search(wanted.own_name)[0]?.name).toBe(wanted.definition.name);
  }
});

test("a server's part is replaced without a trace of what was there before", () => {
  const index = indexOf(["old_thing", "antique"], ["kept", "modern"]);
  index.setServer("t", [tool("t", "other", "antique too")]);
  index.setServer("s", [tool("s", "kept", "modern")]);
  expect(index.search("antique").map(({ name }) => name)).toEqual(["mcp__t__other"]);
  index.setServer("t", []);
  expect(index.search("antique")).toEqual([]);
  const fresh = indexOf(["kept", "modern"]);
  expect(index.search("modern kept")).toEqual(fresh.search("modern kept"));
});

test("5,000 tools are searched within 10 ms, and a server of 50 is replaced within 20 ms", () => {
  const index = new ToolIndex();
  for (let server = 0; server < 100; server += 1) index.setServer(`s${server}`, manyTools(`s${server}`));
  const quickest = (run: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 15 }, () => {
        const from = performance.now();
        run();
        return performance.now() - from;
      }),
    );
  const query = quickest(() => index.search("get the latest data of a word17 from the list of word204 and save it"));
  const update = quickest(() => index.setServer("s7", manyTools("s7")));
  // oxlint-disable-next-line no-console
  console.log(`tool search over 5,000 tools: ${query.toFixed(1)} ms a query, ${update.toFixed(1)} ms an update`);
  expect(query).toBeLessThan(10);
  expect(update).toBeLessThan(20);
});

test.skipIf(!has_tool_search_data)(
  "most of the tools of real tasks are found by their steps (skipped without the folder TURNSTONE_TOOL_SEARCH_DATA)",
  () => {
    const { tasks, recall } = publicTasks();
    const halves = [0, 1].map((rest) =>
      recall(
        tasks.filter((_, at) => at % 2 === rest),
        5,
      ),
    );
    expect(recall(tasks, 5)).toBeGreaterThanOrEqual(0.8);
    expect(Math.min(...halves)).toBeGreaterThan(0.75);
  },
);
