import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { nameOf, plainText } from "./markdown.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A document in Markdown that has a page below `/docs`. */
export interface MarkdownDocument {
  /** The last part of its page's address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** Its first paragraph. */
  readonly summary: string;
  readonly markdown: string;
}

/** @param path of a file of the repository that has a page */
function readDocument(path: string): MarkdownDocument {
  const markdown = readFileSync(join(ROOT, path), "utf8");
  const tokens = new Marked().lexer(markdown);
  const textOf = (type: "heading" | "paragraph"): string => {
    const found = tokens.find((token) => token.type === type);
    return found && "text" in found ? plainText(found.text) : "";
  };
  return { name: nameOf(path)!, title: textOf("heading"), summary: textOf("paragraph"), markdown };
}

/** The documents in a folder, in the order of the numbers in their files' names. */
function documentsIn(folder: string): MarkdownDocument[] {
  const files = readdirSync(join(ROOT, folder)).filter((file) => file.endsWith(".md"));
  return files.toSorted().map((file) => readDocument(`${folder}/${file}`));
}

/** The guides: what to do, with code. */
export function readGuides(): MarkdownDocument[] {
  return documentsIn("docs/guides");
}

/** The changelog without what only operators notice. */
function readChangelog(): MarkdownDocument {
  const changelog = readDocument("CHANGELOG.md");
  return { ...changelog, markdown: changelog.markdown.replaceAll(/### For operators\n[^#]*/g, "") };
}

/** The client's README without what only this repository's developers need. */
function readClient(): MarkdownDocument {
  const client = readDocument("apps/client/README.md");
  return { ...client, markdown: client.markdown.replace(/## In this repository\n[^]*/, "") };
}

/** What to look up: clients, rules, limits, mappings, the client, and what changed. */
export function readTopics(): MarkdownDocument[] {
  return [
    readDocument("docs/clients.md"),
    ...documentsIn("docs/reference"),
    readDocument("docs/from-an-export.md"),
    readClient(),
    readChangelog(),
  ];
}
