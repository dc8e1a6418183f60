import { errorKinds } from "../../../lib/http/error-table.ts";
import { bodyFields, fieldHead, markExtension } from "./fields.ts";
import { type Html, html } from "./html.ts";
import { codeBlock, codeTabs } from "./languages.ts";
import { renderLine, renderMarkdown } from "./markdown.ts";
import type { Operation, Parameter } from "./operations.ts";
import { samplesOf } from "./samples.ts";
import { requestFields, sendForm } from "./send-form.ts";

const PLACES = { path: "Path", query: "Query parameters", header: "Headers" } as const;

function parameterLists(parameters: readonly Parameter[]): Html {
  return html`${Object.entries(PLACES).map(([place, title]) => {
    const listed = parameters.filter((each) => each.in === place);
    return (
      listed.length > 0 &&
      html`<h2 id="${place}">${title}</h2>
        <dl class="fields">
          ${listed.map(({ name, schema, required = false, description }) =>
            fieldHead(name, schema, required, description),
          )}
        </dl>`
    );
  })}`;
}

function exampleOf(example: unknown): Html {
  return typeof example === "string"
    ? codeBlock(example, "csv")
    : codeBlock(JSON.stringify(example, undefined, 2), "json");
}

/** A status that leads to the first kind of error with it. */
function errorLink(status: string): Html {
  const kind = errorKinds.find((each) => String(each.status) === status);
  return kind ? html`<a href="{{root}}docs/errors#${kind.name}">${status}</a>` : html`${status}`;
}

/** The method and the path of an endpoint. */
export function endpointLine({ method, path }: Operation): Html {
  return html`<span class="method" data-method="${method}">${method}</span> <code>${path}</code>`;
}

/** The page of an endpoint: what it takes beside code that calls it, and what it returns beside an example. */
export function operationPage(operation: Operation): Html {
  const { summary, parameters, responses, isPublic } = operation;
  const [description, mark] = markExtension(operation.description);
  const successes = responses.filter(({ status }) => status.startsWith("2"));
  const [success] = successes;
  const others = responses.filter(({ status }) => !status.startsWith("2"));
  return html`<main id="content" class="operation">
    <header>
      <h1>${renderLine(summary)}</h1>
      <p class="endpoint">${endpointLine(operation)} ${mark}</p>
      ${renderMarkdown(description)} ${isPublic && html`<p class="note">No API key is needed.</p>`}
    </header>
    <div class="pair">
      <div>${parameterLists(parameters)}${requestFields(operation)}</div>
      <div class="beside">
        <h2 id="request">Request</h2>
        ${codeTabs(samplesOf(operation))}
      </div>
    </div>
    ${
      success?.content &&
      html`<div class="pair">
        <div>
          <h2 id="response">Response</h2>
          ${successes.map(({ status, description: text }) => html`<p><strong>${status}</strong> ${renderLine(text)}</p>`)}
          ${success.contentType?.endsWith("json") && bodyFields(success.content.schema, false)}
          <p class="note">
            Every response also has the <a href="{{root}}docs/requests#headers">headers that all responses share</a>.
          </p>
        </div>
        <div class="beside">
          <h2 id="example">Example response</h2>
          ${exampleOf(success.content.example)}
        </div>
      </div>`
    }
    <h2 id="other-responses">Other responses</h2>
    <dl class="statuses">
      ${others.map(
        ({ status, description: text }) =>
          html`<dt>${errorLink(status)}</dt>
            <dd>${renderLine(text)}</dd>`,
      )}
    </dl>
    ${sendForm(operation)}
  </main>`;
}
