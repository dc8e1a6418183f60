import { NOT_FOUND_PAGE } from "@work-items/lib/http/page-endpoint.ts";
import { createIndex, type SearchEntry } from "../browser/docs/search-index.ts";
import { type MarkdownDocument, readGuides, readTopics } from "./documents.ts";
import { Html, html } from "./html.ts";
import { documentMarkdown, plainText, renderLine, renderMarkdown, sectionsOf, slugOf } from "./markdown.ts";
import { endpointLine, operationMarkdown, operationPage } from "./operation-page.ts";
import { type Operation, operations, tags } from "./documented-operations.ts";
import { SEARCH_WORDS } from "./search-words.ts";

/** A page, without the frame that all pages have. */
export interface Page {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly content: Html;
  /** The same as Markdown, with absolute links. @default it has none */
  readonly markdown?: string;
}

interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
  /** Whether the menu folds it, except around its current page. */
  readonly isFolded?: boolean;
}

function navigation(sections: readonly Section[], current: string): Html {
  return html`<nav class="contents" aria-label="Documentation">
    <div class="search">
      <label for="search">Search</label>
      <input id="search" type="search" autocomplete="off" data-index="{{root}}assets/{{search}}" data-root="{{root}}" />
      <p class="found" role="status"></p>
      <ul class="results"></ul>
    </div>
    <details class="all">
      <summary>Contents</summary>
      <a href="{{root}}docs" ${current === "/docs" && html`aria-current="page"`}>Overview</a>
      ${sections.map(
        ({ title: heading, pages, isFolded = false }) =>
          html`<details ${(!isFolded || pages.some(({ path }) => path === current)) && "open"}>
            <summary>${heading}</summary>
            <ul>
              ${pages.map(
                ({ path, title }) =>
                  html`<li>
                    <a href="{{root}}${path.slice(1)}" ${path === current && html`aria-current="page"`}
                      >${title.replace(/[,;:] .*/, "")}</a
                    >
                  </li>`,
              )}
            </ul>
          </details>`,
      )}
    </details>
  </nav>`;
}

/** A page's own contents, which wide windows show beside it: its sections, if it has several. */
function sectionsOn({ text }: Html): Html | false {
  const headings = [...text.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/gs)];
  return (
    headings.length > 1 &&
    html`<nav class="contents here" aria-label="On this page">
      <ul>
        ${headings.map(
          ([, id, heading = ""]) =>
            html`<li><a href="#${id}">${new Html(heading.replaceAll(/<\/?a\b[^>]*>/g, ""))}</a></li>`,
        )}
      </ul>
    </nav>`
  );
}

/** Links to pages with their first sentences. */
function cards({ pages }: Section): Html {
  return html`<ul class="cards">
    ${pages.map(
      ({ path, title, description }) =>
        html`<li><a href="{{root}}${path.slice(1)}">${title}</a><span> ${description}</span></li>`,
    )}
  </ul>`;
}

/** What a work item is, as the glossary says it. */
const WHAT = "What is a work item?";
const WHAT_IS_ONE = "Work item";

/** What the service is, what a work item is, and all pages. */
function overview(guides: Section, topics: Section, definition: string): Html {
  return html`<main id="content" class="text">
    <h1>Work items</h1>
    <p class="lead">
      Send <strong>work items</strong> such as tickets, calls and chats from the systems where they happen. The service
      keeps one item for each <code>external_id</code>, however often you send it. Read items one at a time, in lists,
      or as a feed of changes.
    </p>
    <h2 id="${slugOf(WHAT)}">${WHAT}</h2>
    ${renderMarkdown(definition)}
    <h2 id="guides">${guides.title}</h2>
    ${cards(guides)}
    <h2 id="reference">Reference</h2>
    <p>
      Each endpoint has a page with code to copy. To generate a client or use Postman, take the
      <a href="{{root}}v1/openapi.json">OpenAPI document</a>.
    </p>
    ${tags.map(
      ({ name, description }) =>
        html`<h3 id="${slugOf(name)}">${name}</h3>
          <p>${description}</p>
          <dl class="endpoints">
            ${operations
              .filter((operation) => operation.tags.includes(name))
              .map(
                (operation) =>
                  html`<dt><a href="{{root}}docs/${operation.name}">${endpointLine(operation)}</a></dt>
                    <dd>${renderLine(operation.summary)}</dd>`,
              )}
          </dl>`,
    )}
    <h2 id="topics">${topics.title}</h2>
    ${cards(topics)}
  </main>`;
}

function documentPage({ name, title, summary, markdown }: MarkdownDocument): Page {
  return {
    path: `/docs/${name}`,
    title,
    description: summary,
    content: html`<main id="content" class="text">${renderMarkdown(markdown)}</main>`,
    markdown: documentMarkdown(markdown),
  };
}

function endpointPage(operation: Operation): Page {
  const title = plainText(operation.summary);
  return {
    path: `/docs/${operation.name}`,
    title,
    description: `${operation.method} ${operation.path}: ${title}.`,
    content: operationPage(operation),
    markdown: operationMarkdown(operation),
  };
}

/** The list of all pages for language models (https://llmstxt.org). */
function llmsText(sections: readonly Section[]): string {
  const lists = sections.map(({ title: heading, pages }) => {
    const links = pages.map(
      ({ path, title, description }) => `- [${title}]({{base_url}}${path}.md)${description && `: ${description}`}`,
    );
    return `## ${heading}\n\n${links.join("\n")}\n`;
  });
  return `# Work items

> Organizations send work items (units of work done by agents) with the events of a source system, and read them back.
> The API is described by an OpenAPI document: {{base_url}}/v1/openapi.json

${lists.join("\n")}`;
}

type FoundEntry = Omit<SearchEntry, "words">;

function entriesOf({ name, title, markdown }: MarkdownDocument, isGuide: boolean): FoundEntry[] {
  return sectionsOf(markdown).map(({ heading, text }, index) => ({
    heading: index === 0 ? title : heading,
    page: index === 0 ? "" : title,
    path: index === 0 ? `docs/${name}` : `docs/${name}#${slugOf(heading)}`,
    text: text.trim(),
    isGuide,
  }));
}

/** The index of the search, as JSON. @throws Error if there are words for a page that doesn't exist */
function searchOf(entries: readonly FoundEntry[]): string {
  const paths = new Set(entries.map(({ path }) => path));
  const unknown = Object.keys(SEARCH_WORDS).filter((path) => !paths.has(path));
  if (unknown.length > 0) throw new Error(`no page has the address ${unknown.join(", ")}`);
  return createIndex(entries.map((entry) => ({ ...entry, words: SEARCH_WORDS[entry.path] ?? "" })));
}

/** All pages below `/docs`, their list for language models, and what their search finds. */
export function docsSite() {
  const documents = { guides: readGuides(), topics: readTopics() };
  const guides: Section = { title: "Guides", pages: documents.guides.map(documentPage) };
  const topics: Section = { title: "Look up", pages: documents.topics.map(documentPage) };
  const endpoints = tags.map(({ name }): Section => {
    const own = operations.filter((operation) => operation.tags.includes(name));
    return { title: name, pages: own.map(endpointPage), isFolded: true };
  });
  const sections = [guides, ...endpoints, topics];
  const glossary = documents.topics.find(({ name }) => name === "glossary")!;
  const definition = sectionsOf(glossary.markdown).find(({ heading }) => heading === WHAT_IS_ONE)!;
  const pages: readonly Page[] = [
    ...["/", "/docs"].map((path) => ({
      path,
      title: "Documentation",
      description: "Guides, reference and the import page of the work item service.",
      content: overview(guides, topics, definition.markdown),
    })),
    {
      path: NOT_FOUND_PAGE,
      title: "Page not found",
      description: "No page has this address.",
      content: html`<main id="content" class="text">
        <h1>Page not found</h1>
        <p>No page has this address. It may have moved: search, or choose from the contents.</p>
      </main>`,
    },
    ...sections.flatMap((section) => section.pages),
  ];
  return {
    pages: pages.map((page) => ({
      ...page,
      content: html`<div class="columns">
        ${navigation(sections, page.path)}${page.content}${sectionsOn(page.content)}
      </div>`,
    })),
    list: llmsText(sections),
    search: searchOf([
      { heading: WHAT, page: "", path: `docs#${slugOf(WHAT)}`, text: definition.text },
      ...operations.map(({ name, method, path, summary, parameters, description }) => ({
        heading: plainText(summary),
        page: "",
        path: `docs/${name}`,
        text: plainText(`${method} ${path} ${parameters.map((each) => each.name).join(" ")} ${description}`),
      })),
      // Only the start of the changelog: it has every word, and the same headings for each version.
      ...[...documents.guides, ...documents.topics].flatMap((document) =>
        entriesOf(document, documents.guides.includes(document))
          .filter(({ heading }) => document !== glossary || heading !== WHAT_IS_ONE)
          .slice(0, document.name === "changelog" ? 1 : undefined),
      ),
    ]),
  };
}
