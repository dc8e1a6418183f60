import { Marked, type Tokens } from "marked";
import { Html, html } from "./html.ts";
import { codeBlock, codeTabs, isLanguage, type Language, LOCAL_ADDRESS } from "./languages.ts";
import { pictureOf } from "./pictures.ts";

/** To which level lists of fields are open: a body's own fields, and those of its objects. */
const OPEN_LEVELS = 2;
/** The level of the list of fields that is being rendered. */
let level = 0;

/** Gives headings addresses, and lets links to files lead to their pages. A link to a file without a page becomes text. */
const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const address = addressOf(href);
      return address === undefined ? text : `<a href="${address}">${text}</a>`;
    },
    image({ href, text }) {
      const picture = pictureOf(href);
      if (picture === undefined) return html`<em>${text}</em>`.text;
      const { asset, width, height } = picture;
      const dark = pictureOf(href.replace(".webp", "-dark.webp"));
      const media = "(prefers-color-scheme: dark)";
      return html`<picture>
        ${dark && html`<source srcset="{{root}}assets/${dark.asset}" media="${media}" />`}
        <img src="{{root}}assets/${asset}" alt="${text}" width="${width}" height="${height}" loading="lazy" />
      </picture>`.text;
    },
    /** A list below a value's name has its fields, and can be opened or folded. */
    listitem({ tokens }) {
      const list = tokens.find(({ type }) => type === "list");
      const [name] = /^`[^`]*`/.exec(tokens[0]?.raw ?? "") ?? [];
      if (list === undefined || name === undefined) return `<li>${this.parser.parse(tokens)}</li>\n`;
      const text = this.parser.parse(tokens.filter((token) => token !== list));
      const summary = `<summary>Fields of ${renderLine(name).text}</summary>`;
      level += 1;
      const opening = level <= OPEN_LEVELS ? "<details open>" : "<details>";
      const fields = this.parser.parse([list]);
      level -= 1;
      return `<li>${text}${opening}${summary}${fields}</details></li>\n`;
    },
    code: ({ text, lang }) => codeBlock(text, lang?.split(" ", 1)[0]).text,
  },
});

/** The part of an address that names a heading, as GitHub makes it. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

/** The files with a page outside the folders of guides and reference. */
const PAGES_OF_FILES: Readonly<Record<string, string>> = {
  "docs/clients.md": "clients",
  "from-an-export.md": "from-an-export",
  "apps/client/README.md": "typescript-client",
  "CHANGELOG.md": "changelog",
};

/** The last part of the address of a file's page; undefined if it has none. */
export function nameOf(path: string): string | undefined {
  const known = Object.entries(PAGES_OF_FILES).find(([file]) => path.endsWith(file))?.[1];
  return known ?? /(?:^|(?:guides|reference)\/)(?:\d+-)?([a-z-]+)\.md$/.exec(path)?.[1];
}

/** Where a link leads on the pages; undefined if its target is only in the repository. */
function addressOf(href: string): string | undefined {
  if (/^(https:|#)/.test(href)) return href;
  if (href.startsWith("/")) return `{{root}}${href.slice(1)}`;
  const picture = pictureOf(href);
  if (picture !== undefined) return `{{root}}assets/${picture.asset}`;
  const [path = "", anchor] = href.split("#", 2);
  const end = anchor === undefined ? "" : `#${anchor}`;
  const name = nameOf(path);
  return name === undefined ? undefined : `{{root}}docs/${name}${end}`;
}

/** The HTML of Markdown. Consecutive code blocks in several languages become tabs. */
export function renderMarkdown(markdown: string): Html {
  const tokens = marked.lexer(markdown).filter((token) => token.type !== "space");
  let content = "";
  let group: (readonly [Language, string])[] = [];
  const flush = (): void => {
    if (group.length > 0) content += codeTabs(group).text;
    group = [];
  };
  for (const token of tokens) {
    const { type, lang, text } = token as Tokens.Code;
    if (type === "code" && isLanguage(lang)) {
      group.push([lang, text]);
      continue;
    }
    flush();
    content += marked.parser([token]);
  }
  flush();
  // Wide tables scroll, by keyboard too.
  const tables = content.replaceAll("<table>", '<div class="scroll" tabindex="0"><table>');
  return new Html(tables.replaceAll("</table>", "</table></div>"));
}

/** The HTML of one line of Markdown. */
export function renderLine(markdown: string): Html {
  return new Html(marked.parseInline(markdown, { async: false }));
}

/** Markdown as plain text. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** A part of a document: a heading, and what is below it without code as text, and as Markdown. */
interface Section {
  readonly heading: string;
  readonly text: string;
  readonly markdown: string;
}

/** The sections of a document. */
export function sectionsOf(markdown: string): Section[] {
  const sections: { heading: string; text: string; markdown: string }[] = [];
  for (const token of marked.lexer(markdown)) {
    const last = sections.at(-1);
    if (token.type === "heading") {
      sections.push({ heading: plainText((token as Tokens.Heading).text), text: "", markdown: "" });
    } else if (last !== undefined) {
      last.markdown += token.raw;
      // Without the marks of lists and tables.
      const lines = token.raw.replaceAll(/^ *(?:-|\d+\.) |\|[\s|:-]*/gm, " ");
      if (token.type !== "code") last.text += ` ${plainText(lines)}`;
    }
  }
  return sections;
}

const BLOCKS = /(^```[^]*?^```$)/m;
const LINKS = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Lets links lead to the Markdown of pages, and to pictures. A link to a file without a page becomes text. */
function withAddresses(markdown: string): string {
  return markdown.replaceAll(LINKS, (_, sign: string, text: string, href: string) => {
    const address = addressOf(href)?.replace(/^\{\{root\}\}(docs\/[\w-]+)/, "{{base_url}}/$1.md");
    return address === undefined ? text : `${sign}[${text}](${address.replace("{{root}}", "{{base_url}}/")})`;
  });
}

/** A document whose links and code have the address that serves it. */
export function documentMarkdown(markdown: string): string {
  const parts = markdown.split(BLOCKS).map((part, index) => (index % 2 === 0 ? withAddresses(part) : part));
  return parts.join("").replaceAll(LOCAL_ADDRESS, "{{base_url}}");
}
