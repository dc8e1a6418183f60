import { type Html, html } from "./html.ts";

/** The languages of code in several of them, by those of code blocks in Markdown, in the order of the tabs. */
export const LANGUAGES = { bash: "curl", ts: "TypeScript", python: "Python" } as const;
/** A language that tabs show. */
export type Language = keyof typeof LANGUAGES;

export function isLanguage(name: string | undefined): name is Language {
  return name !== undefined && Object.hasOwn(LANGUAGES, name);
}

/** The local service's address, in whose place pages have the address that serves them. */
export const LOCAL_ADDRESS = "http://localhost:3000";

/** A block of code. */
export function codeBlock(code: string, language?: string): Html {
  const shown = code.replaceAll(LOCAL_ADDRESS, "{{base_url}}");
  const known = isLanguage(language);
  return html`<figure class="code" ${known && html` data-language="${language}"`}>
    ${known && html`<figcaption>${LANGUAGES[language]}</figcaption>`}
    <pre tabindex="0"><code>${shown}</code></pre>
  </figure> `;
}

/** The same code in several languages, of which the browser shows one. */
export function codeTabs(blocks: readonly (readonly [language: Language, code: string])[]): Html {
  return html`<div class="tabs">${blocks.map(([language, code]) => codeBlock(code, language))}</div>`;
}
