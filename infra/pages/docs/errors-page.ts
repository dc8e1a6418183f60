import { errorKinds, problemType } from "../../../lib/http/error-table.ts";
import { CODE_HELP, ERROR_HELP } from "./error-help.ts";
import { type Html, html } from "./html.ts";
import { codeBlock } from "./languages.ts";
import { renderLine } from "./markdown.ts";
import { responseHeaders } from "./operations.ts";

/** An error that has no entry. */
class MissingHelpError extends Error {}

/** The entries of kinds of errors: what a type means and what to do. @throws MissingHelpError */
export const errorEntries = errorKinds.map((kind) => {
  const help = ERROR_HELP[kind.name];
  if (help === undefined) throw new MissingHelpError(`add ${kind.name} to error-help.ts`);
  const [when, action] = help;
  return { ...kind, when, action };
});

const PROBLEM = {
  type: "urn:work-items:problem:invalid-input",
  title: "The input is not valid",
  status: 422,
  detail: "work_items[3].agent_email: must be an email address",
  instance: "5f0c9a1e-7d3b-4c52-9e0a-2f6f6a1c9b1e",
  errors: [{ pointer: "/work_items/3/agent_email", code: "invalid_format", message: "must be an email address" }],
  error: "work_items[3].agent_email: must be an email address",
};

/** The page of all errors. Each type and each code has an address of its own. */
export function errorsPage(): Html {
  return html`<main id="content" class="text">
    <h1>Errors</h1>
    <p>
      Every error has the body <code>{ "error": string }</code>. The message names each mistake and where it is. Include
      <code>x-request-id</code> when you contact support. See also
      <a href="{{root}}docs/errors-and-retries">errors and retries</a>.
    </p>
    <h2 id="problem-details">Problem details</h2>
    <p>
      With <code>Accept: application/problem+json</code>, errors follow
      <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>, and a <code>Link</code> header with
      <code>rel="help"</code> leads to the entry on this page.
    </p>
    ${codeBlock(JSON.stringify(PROBLEM, undefined, 2))}
    <h2 id="types">Types</h2>
    ${errorEntries.map((entry) => {
      const isFirst = errorEntries.find(({ status }) => status === entry.status) === entry;
      return html`<section ${isFirst && html`id="status-${entry.status}"`}>
        <h3 id="${entry.name}">${entry.status} <code>${entry.name}</code></h3>
        <p>${renderLine(entry.when)}</p>
        <p><strong>What to do:</strong> ${renderLine(entry.action)}</p>
        <p class="note"><code>${problemType(entry)}</code></p>
      </section>`;
    })}
    <h2 id="codes">Codes of values</h2>
    <p>
      Problem details, results of a batch and lists of failed rows have a code for each value. New types and codes may
      be added.
    </p>
    <dl class="fields">
      ${Object.entries(CODE_HELP).map(
        ([code, text]) =>
          html`<dt id="code-${code}"><code>${code}</code></dt>
            <dd>${renderLine(text)}</dd>`,
      )}
    </dl>
    <h2 id="headers">Headers of responses</h2>
    <dl class="fields">
      ${responseHeaders.map(
        ({ name, description }) =>
          html`<dt><code>${name}</code></dt>
            <dd>${renderLine(description)}</dd>`,
      )}
    </dl>
  </main>`;
}
