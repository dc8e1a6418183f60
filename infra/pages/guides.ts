import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked, type Tokens } from "marked";

const DIRECTORY = fileURLToPath(new URL("../../docs/guides", import.meta.url));

/** The languages of tabs, by those of code blocks, in the order of the tabs. */
export const LANGUAGES = { bash: "curl", ts: "TypeScript", python: "Python" } as const;
/** A language that tabs show. */
export type Language = keyof typeof LANGUAGES;

/** A guide in Markdown. */
export interface Guide {
  /** Its file's name without number and ending; part of its address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** Its first paragraph. */
  readonly summary: string;
  readonly markdown: string;
}

const marked = new Marked();

const plainText = (markdown: string): string => markdown.replaceAll(/[`*]/g, "").replaceAll(/\s+/g, " ").trim();

/** All guides, in the order of their files' numbers. */
export const readGuides = (): Guide[] =>
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".md"))
    .toSorted()
    .map((file) => {
      const markdown = readFileSync(join(DIRECTORY, file), "utf8");
      const tokens = marked.lexer(markdown);
      const textOf = (type: "heading" | "paragraph"): string => {
        const found = tokens.find((token) => token.type === type);
        return found && "text" in found ? plainText(found.text) : "";
      };
      return {
        name: file.replace(/^\d+-|\.md$/g, "").replace(/\.md$/, ""),
        title: textOf("heading"),
        summary: textOf("paragraph"),
        markdown,
      };
    });

const isLanguage = (name: string | undefined): name is Language => name !== undefined && Object.hasOwn(LANGUAGES, name);

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const codeBlock = ({ text, lang }: Tokens.Code): string => {
  const caption = isLanguage(lang) ? `<figcaption>${LANGUAGES[lang]}</figcaption>` : "";
  return `<figure class="code"${isLanguage(lang) ? ` data-language="${lang}"` : ""}>${caption}<pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`;
};

/** The HTML of a guide. Blocks of code in several languages that follow each other become tabs in the browser. */
export const renderGuide = ({ markdown }: Guide): string => {
  const tokens = marked.lexer(markdown).filter((token) => token.type !== "space");
  let html = "";
  let group: Tokens.Code[] = [];
  const flush = (): void => {
    if (group.length > 0) html += `<div class="tabs">\n${group.map(codeBlock).join("")}</div>\n`;
    group = [];
  };
  for (const token of tokens) {
    if (token.type === "code" && isLanguage(token["lang"] as string | undefined)) {
      group.push(token as Tokens.Code);
      continue;
    }
    flush();
    html += token.type === "code" ? codeBlock(token as Tokens.Code) : marked.parser([token]);
  }
  flush();
  return html.replaceAll(/href="\d+-([a-z-]+)\.md"/g, 'href="{{root}}docs/$1"').replaceAll('href="/', 'href="{{root}}');
};

/** Links to all guides, as the items of a list. */
export const renderGuideLinks = (guides: readonly Guide[], current?: Guide): string =>
  guides
    .map((guide) => {
      const here = guide === current ? ' aria-current="page"' : "";
      return `<li><a href="{{root}}docs/${guide.name}"${here}>${escaped(guide.title)}</a><span> ${escaped(guide.summary)}</span></li>`;
    })
    .join("\n");
