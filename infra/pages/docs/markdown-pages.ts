import { LOCAL_ADDRESS } from "./languages.ts";
import { addressOf } from "./markdown.ts";

/** A page as Markdown, for programs that read text. */
interface MarkdownPage {
  readonly path: string;
  readonly title: string;
  readonly description: string;
}

const BLOCKS = /(^```[^]*?^```$)/m;
const LINKS = /\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Lets links lead to the Markdown of pages, as addresses; those to files without a page become text. */
function withAddresses(markdown: string): string {
  return markdown.replaceAll(LINKS, (_, text: string, href: string) => {
    const address = addressOf(href)?.replace(/^\{\{root\}\}(docs\/[\w-]+)/, "{{base_url}}/$1.md");
    return address === undefined ? text : `[${text}](${address.replace("{{root}}", "{{base_url}}/")})`;
  });
}

/** A document with the address that serves it in its code. */
export function documentMarkdown(markdown: string): string {
  const parts = markdown.split(BLOCKS).map((part, index) => (index % 2 === 0 ? withAddresses(part) : part));
  return parts.join("").replaceAll(LOCAL_ADDRESS, "{{base_url}}");
}

/** The list of all pages for language models (https://llmstxt.org). */
export function llmsText(
  sections: readonly { readonly title: string; readonly pages: readonly MarkdownPage[] }[],
): string {
  const lists = sections.map(({ title, pages }) => {
    const links = pages.map(
      (page) => `- [${page.title}]({{base_url}}${page.path}.md)${page.description && `: ${page.description}`}`,
    );
    return `## ${title}\n\n${links.join("\n")}\n`;
  });
  return `# Work items

> Organizations send work items, units of work done by agents, with the events of a source system, and read them back.
> The API is described by an OpenAPI document: {{base_url}}/v1/openapi.json

${lists.join("\n")}`;
}
