import * as fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToText } from "./html_text.ts";

function text(html: string): string {
  return htmlToText(html, "https://site.test/docs/page").text;
}

test("blocks are kept apart, and a line break breaks the line (WEB-19)", () => {
  expect(text("<p>a</p><p>b</p><div>c</div><div>d</div>e<br>f<section>g</section>")).toBe("a\n\nb\n\nc\nd\ne\nf\n\ng");
  expect(text("one <b>bo</b>ld\n  word")).toBe("one bold word");
});

test("what nobody reads is dropped: programs, styles, navigation, controls, hidden parts (WEB-19)", () => {
  const html = `<head><style>p{}</style><script>let a = "<p>no</p>"</script></head>
    <nav><a href="/">Home</a></nav><div role="navigation">Menu</div><p>kept<script>bad()</script></p>
    <template>t</template><svg><text>s</text></svg><button>Buy</button><select><option>o</select>
    <p hidden>h</p><p style="color:red; display:none">d</p><p aria-hidden="true">a</p><noscript>n</noscript><textarea>x</textarea>
    <p>end</p>`;
  expect(text(html)).toBe("kept\n\nend");
  expect(text('<body style="visibility: hidden"><p>shown by a script</p>')).toBe("shown by a script");
});

test("title and description come beside the text, and entities are read", () => {
  const html = `<title>A &amp; B\n</title><meta name="Description" content="About  it"><p>1 &lt; 2 &#8364;&nbsp;x`;
  expect(htmlToText(html, "https://site.test/")).toEqual({
    title: "A & B",
    description: "About it",
    text: "1 < 2 € x",
  });
});

test("links keep their words and get whole targets", () => {
  expect(text(`See <a href="../x?q=1">the docs</a>, <a href="//other.test/">other</a>.`)).toBe(
    "See [the docs](https://site.test/x?q=1), [other](https://other.test/).",
  );
  expect(text(`<base href="https://base.test/a/"><a href="b">b</a>`)).toBe("[b](https://base.test/a/b)");
  expect(text(`<a href="#top">up</a> <a href="javascript:x()">js</a> <a href="/docs/page">self</a> <a>none</a>`)).toBe(
    "up js self none",
  );
  expect(text(`<a href="/card"><h3>Card</h3><p>text</p></a>`)).toBe("### Card\n\ntext\n\n(https://site.test/card)");
  expect(text(`<h2><a href="/h">Head</a></h2><a href="/i"><img src=x alt="A picture"></a><a href="/e"></a>`)).toBe(
    "## [Head](https://site.test/h)\n\n[[image: A picture]](https://site.test/i)",
  );
});

test("lists are numbered or bulleted, and set in where they are nested", () => {
  const html = "<p>L<ul><li>one<ul><li>in<li>ner</ul><li><p>two</p></ul><ol start=3><li>three<li>four</ol><p>after";
  expect(text(html)).toBe("L\n\n- one\n  - in\n  - ner\n- two\n\n3. three\n4. four\n\nafter");
});

test("tables are rows of cells; tables that only lay out become blocks", () => {
  const html = `<table><thead><tr><th>Name<th>Price</thead><tr><td>A|B<td><p>5 <a href="/e">EUR</a></p><tr><td>C<td></table>`;
  expect(text(html)).toBe("| Name | Price |\n| --- | --- |\n| A\\|B | 5 [EUR](https://site.test/e) |\n| C |  |");
  expect(text("<table><tr><td><h1>Head</h1><p>one</p><p>two</p><td>side</table>")).toBe("# Head\n\none\n\ntwo\nside");
});

test("code keeps its lines and indentation, and a fence that it cannot end", () => {
  const code = "if (a) {\n    b();\n}\n\n```";
  expect(text(`<p>x</p><pre><code class="hl language-js">${code}</code></pre><p>use <code>b()</code>`)).toBe(
    `x\n\n\`\`\`\`js\n${code}\n\`\`\`\`\n\nuse \`b()\``,
  );
});

test("quotes are marked", () => {
  expect(text("<p>he said<blockquote><p>a</p><p>b</p></blockquote>end")).toBe("he said\n\n> a\n\n> b\n\nend");
});

test("no markup throws, and no text of paragraphs is lost", () => {
  const tag = fc.constantFrom(
    "p",
    "div",
    "a href=x",
    "li",
    "ul",
    "ol",
    "td",
    "tr",
    "table",
    "pre",
    "code",
    "h2",
    "blockquote",
  );
  const piece = fc.oneof(
    tag.map((name) => `<${name}>`),
    tag.map((name) => `</${name.split(" ")[0]}>`),
    fc.constantFrom("w1", "w2", "w3", " ", "\n", "&amp;", "<br>", "<!-- c -->"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const words = (from: string): number => from.match(/w[123]/g)?.length ?? 0;
      expect(words(text(pieces.join("")))).toBe(words(pieces.join("").replace(/<[^<>]*>/g, "")));
    }),
    { numRuns: 2_000 },
  );
});

test("a page's cost grows with its length alone (WEB-19)", () => {
  const hostile = [
    `<${" ".repeat(100_000)}`,
    "< ".repeat(100_000),
    `<p>${"<a href=/x>ab</a> ".repeat(20_000)}`,
    `<p>${" ".repeat(1_000_000)}x`,
    `<p>${"&".repeat(300_000)}`,
    "<table><tr><td>".repeat(5_000),
    `<p ${"a=b ".repeat(100_000)}>`,
  ];
  const started = process.cpuUsage();
  for (const html of hostile) text(html);
  // In microseconds of the processor, which a busy machine does not add to. All together take about a second; anything
  // quadratic would take minutes.
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});
