import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readGuides, readTopics } from "../../../apps/pages/docs/documents.ts";
import { LANGUAGES } from "../../../apps/pages/docs/languages.ts";
import { renderMarkdown } from "../../../apps/pages/docs/markdown.ts";
import { operations } from "../../../apps/pages/docs/documented-operations.ts";
import { docsSite } from "../../../apps/pages/docs/site.ts";

/** `test/proofs/guides` runs their code. */
test("each guide has its title, and code in every language if it is for programs", () => {
  const guides = readGuides();
  expect(guides.map(({ name }) => name)).toEqual([
    "import-a-file",
    "first-call",
    "nightly-sync",
    "files",
    "errors-and-retries",
    "keys",
    "keep-a-copy",
    "undo-an-import",
    "get-notified",
  ]);
  for (const guide of guides) {
    expect([guide.title, guide.summary]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\.$/)]);
    const groups = renderMarkdown(guide.markdown).text.split('<div class="tabs">').slice(1);
    expect([guide.name, groups.length > 0]).toEqual([guide.name, guide.name !== "import-a-file"]);
    for (const group of groups) {
      const languages = [...group.split("</figure> </div>", 1)[0]!.matchAll(/data-language="(\w+)"/g)].map(
        ([, name]) => name,
      );
      expect(languages).toEqual(Object.keys(LANGUAGES));
    }
  }
});

test("code has a bar with its language, and its words have classes, since pages may have no styles of their own", () => {
  const { text } = renderMarkdown('```json mapping\n{ "a": "<b>" }\n```\n\n```csv\na,"<b>"\n```');
  expect([...text.matchAll(/<figcaption>([^<]*)/g)].map(([, name]) => name)).toEqual(["JSON", "CSV"]);
  expect(text).toContain('<span class="c-string">&quot;&lt;b&gt;&quot;</span>');
  expect(text).toContain("<code>a,&quot;&lt;b&gt;&quot;</code>");
  expect(text).not.toContain("style=");
});

/** The files with guides and reference, in the repository. */
const files = globSync("docs/{guides,reference}/*.md");

test("documents show pictures that exist, of at most 60 KB each, and all that exist", () => {
  const linked = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path]) => join(dirname(file), path!)),
  );
  const shown = linked.flatMap((path) => [path, path.replace(".webp", "-dark.webp")]);
  const missing = shown.filter((path) => !existsSync(path));
  expect(missing, "`PICTURES=1 npm test -- test/proofs/pages/pictures` takes the pictures").toEqual([]);
  expect(globSync("docs/pictures/*").toSorted()).toEqual([...new Set(shown)].toSorted());
  expect(shown.filter((path) => statSync(path).size > 60_000)).toEqual([]);
});

test("pictures are assets of the pages and links in their Markdown, each with its size and what it shows", () => {
  const { content, markdown } = docsSite().pages.find(({ path }) => path === "/docs/import-a-file")!;
  expect(content.text.replaceAll(/\s+/g, " ")).toMatch(
    /<img src="\{\{root}}assets\/upload-key-[0-9a-f]{8}\.webp" alt="The page asks [^"]+" width="\d+" height="\d+" loading="lazy" \/>/,
  );
  expect(markdown).toMatch(/\n!\[The page asks [^\]]+\]\(\{\{base_url}}\/assets\/upload-key-[0-9a-f]{8}\.webp\)\n/);
});

test("documents link to files that exist, for those who read them in the repository", () => {
  const links = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\]\(([^)#:]+\.md)/g)].map(([, path]) => join(dirname(file), path!)),
  );
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((path) => !existsSync(path))).toEqual([]);
});

test("callers are shown the changelog without what operators notice, and the client without what developers need", () => {
  const shown = (name: string) => readTopics().find((topic) => topic.name === name)?.markdown ?? "";
  expect(shown("typescript-client")).toMatch(/createClient[^]*precision are lost/);
  expect(shown("typescript-client")).not.toContain("npm test");
  expect(shown("changelog")).toContain("TypeScript client");
  expect(shown("changelog")).not.toMatch(/For operators|npm run/);
});

test("an endpoint's page and its Markdown show the same values, open to the second level and folded below", () => {
  const { pages } = docsSite();
  const shown = (name: string) => pages.find(({ path }) => path === `/docs/${name}`)!;
  for (const { name, parameters } of operations) {
    const { content, markdown = "" } = shown(name);
    const inMarkdown = [...markdown.matchAll(/^ *- `(.+?)` _\w/gm)].map(([, value]) => value);
    const inPage = [...content.text.matchAll(/<li><code>(.+?)<\/code> <em>\w/g)].map(([, value]) => value);
    expect([name, inPage]).toEqual([name, inMarkdown]);
    expect(inPage.length).toBeGreaterThanOrEqual(parameters.length);
  }
  const opening = (name: string) =>
    [...content.text.matchAll(/<details( open)?><summary>Fields of <code>([^<]+)/g)]
      .filter(([, , each]) => each === name)
      .map(([, open]) => open === " open");
  const { content, markdown } = shown("upload-work-items");
  // In the form. JSON and the response only name it.
  expect(opening("fields")).toEqual([true]);
  expect(markdown?.match(/Has the fields of `upload\[mapping]`/g)).toHaveLength(2);
  expect(markdown).toContain(
    "\n- `upload[mapping]` _object_ _extension_  \n  How the file's columns become work items.\n  - Column mapping:\n    - `fields`",
  );
  expect(content.text).toMatch(
    /<li><code>upload\[mapping]<\/code> <em>object<\/em> <em>extension<\/em><br>[^<]*<details open><summary>Fields of <code>upload\[mapping]<\/code><\/summary><ul>\s*<li>Column mapping:<ul>\s*<li><code>fields</,
  );
});
