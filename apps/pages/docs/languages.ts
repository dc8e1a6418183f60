import { createRequire } from "node:module";
import { Html, html } from "./html.ts";

/** What we need of highlight.js, whose own types declare the DOM for all our sources. */
interface Highlight {
  configure(options: { readonly classPrefix: string }): void;
  getLanguage(name: string): { readonly name: string } | undefined;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

const require = createRequire(import.meta.url);
const highlight = require("highlight.js/lib/common") as Highlight;
highlight.configure({ classPrefix: "c-" });

/** The names of tabs by the language of the code block in Markdown, in the tabs' order. */
export const LANGUAGES = { bash: "curl", ts: "TypeScript", python: "Python" } as const;
export type Language = keyof typeof LANGUAGES;

export function isLanguage(name: string | undefined): name is Language {
  return name !== undefined && Object.hasOwn(LANGUAGES, name);
}

/** The local service's address. Pages replace it with the address that serves them. */
export const LOCAL_ADDRESS = "http://localhost:3000";

/** Names of languages above code that has no grammar, or whose grammar has another name. */
const NAMES: Record<string, string> = { ...LANGUAGES, console: "Terminal", csv: "CSV", sh: "Terminal", text: "Output" };

/** Only shown where scripts run. */
const COPY = html`<button type="button" class="copy">Copy</button>`;

/** A block of highlighted code below a bar with its language. */
export function codeBlock(code: string, language = "text", isHidden = false): Html {
  const shown = code.replaceAll(LOCAL_ADDRESS, "{{base_url}}");
  const grammar = highlight.getLanguage(language);
  return html`<figure class="code" ${isLanguage(language) && html`data-language="${language}"`} ${isHidden && "hidden"}>
    <figcaption>${NAMES[language] ?? grammar?.name ?? language}${COPY}</figcaption>
    <pre tabindex="0"><code>${grammar ? new Html(highlight.highlight(shown, { language }).value) : shown}</code></pre>
  </figure> `;
}

/** The same code in several languages. Where scripts run, the browser shows one of them. */
export function codeTabs(blocks: readonly (readonly [language: Language, code: string])[]): Html {
  return html`<div class="tabs">
    <div class="head">
      <div class="tablist" role="tablist" aria-label="Language">
        ${blocks.map(([language]) => html`<button type="button" role="tab">${LANGUAGES[language]}</button>`)}
      </div>
      ${COPY}
    </div>
    ${blocks.map(([language, code], index) => codeBlock(code, language, index > 0))}
  </div>`;
}
