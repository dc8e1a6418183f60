import { splitExtension } from "./fields.ts";
import { type Html, html } from "./html.ts";
import { renderLine, renderMarkdown } from "./markdown.ts";
import { operationSections } from "./operation-markdown.ts";
import type { Operation } from "./operations.ts";
import { sendForm } from "./send-form.ts";

/** The method and the path of an endpoint. */
export function endpointLine({ method, path }: Operation): Html {
  return html`<span class="method" data-method="${method}">${method}</span> <code>${path}</code>`;
}

/** The page of an endpoint: what it takes beside code that calls it, and what it returns beside an example. */
export function operationPage(operation: Operation): Html {
  const { summary, security } = operation;
  const [description, isExtension] = splitExtension(operation.description);
  const { input, request, response, example, others } = operationSections(operation);
  const pair = (left: string, right: string): Html =>
    html`<div class="pair">
      <div>${renderMarkdown(left)}</div>
      <div>${renderMarkdown(right)}</div>
    </div>`;
  return html`<main id="content" class="operation">
    <header>
      <h1>${renderLine(summary)}</h1>
      <p>${endpointLine(operation)} ${isExtension && html`<span class="tag">extension</span>`}</p>
      ${renderMarkdown(description)} ${security && html`<p class="note">No API key is needed.</p>`}
    </header>
    ${pair(input, request)} ${pair(response, example)} ${renderMarkdown(others)} ${sendForm(operation)}
  </main>`;
}
