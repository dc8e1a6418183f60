import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { plainText } from "./markdown.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A document in Markdown that has a page below `/docs`. */
export interface MarkdownDocument {
  /** The last part of its address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** Its first paragraph. */
  readonly summary: string;
  readonly markdown: string;
}

function documentOf(name: string, markdown: string): MarkdownDocument {
  const tokens = new Marked().lexer(markdown);
  const textOf = (type: "heading" | "paragraph"): string => {
    const found = tokens.find((token) => token.type === type);
    return found && "text" in found ? plainText(found.text) : "";
  };
  return { name, title: textOf("heading"), summary: textOf("paragraph"), markdown };
}

/** The documents in a folder, in the order of their files' numbers, which their names don't have. */
function documentsIn(folder: string): MarkdownDocument[] {
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .toSorted()
    .map((file) =>
      documentOf(file.replace(/^\d+-/, "").replace(/\.md$/, ""), readFileSync(join(ROOT, folder, file), "utf8")),
    );
}

function readFile(name: string, path: string): MarkdownDocument {
  return documentOf(name, readFileSync(join(ROOT, path), "utf8"));
}

/** The guides: what to do, with code. */
export function readGuides(): MarkdownDocument[] {
  return documentsIn("docs/guides");
}

/** What callers notice of each version, without what only operators notice. */
function readChangelog(): MarkdownDocument {
  const changelog = readFile("changelog", "CHANGELOG.md");
  return { ...changelog, markdown: changelog.markdown.replaceAll(/#### For operators\n[^#]*/g, "") };
}

/** The client's README without what only this repository's developers need. */
function readClient(): MarkdownDocument {
  const client = readFile("typescript-client", "lib/client/README.md");
  return { ...client, markdown: client.markdown.replace(/## In this repository\n[^]*/, "") };
}

/** What to look up: rules, limits, mappings, the client, and what changed. */
export function readTopics(): MarkdownDocument[] {
  return [
    ...documentsIn("docs/reference"),
    readFile("from-an-export", "docs/from-an-export.md"),
    readClient(),
    readChangelog(),
  ];
}
