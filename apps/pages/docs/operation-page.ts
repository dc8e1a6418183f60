import { errorKinds } from "@work-items/lib/http/error-table.ts";
import { fieldEntries, fieldEntry, type ListedSchemas, splitExtension } from "./fields.ts";
import { type Html, html } from "./html.ts";
import { documentMarkdown, renderLine, renderMarkdown } from "./markdown.ts";
import { type Operation, resolve } from "./documented-operations.ts";
import { samplesOf } from "./samples.ts";

const LOCATIONS = { path: "Path", query: "Query", header: "Header" } as const;

function code(text: string, language: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function parametersOf({ parameters }: Operation): string[] {
  return Object.entries(LOCATIONS).flatMap(([location, title]) => {
    const entries = parameters
      .filter((each) => each.in === location)
      .map(({ name, schema, required = false, description }) => fieldEntry(name, schema, required, description));
    return entries.length === 0 ? [] : [`## ${title}`, entries.join("\n")];
  });
}

function bodyOf({ requestBody }: Operation, listed: ListedSchemas): string[] {
  const { "application/json": json, "multipart/form-data": form } = requestBody?.content ?? {};
  if (json === undefined) return [];
  const asForm = form && fieldEntries(form.schema, true, listed);
  const asJson = fieldEntries(json.schema, true, listed);
  if (asForm === undefined) return ["## Body", asJson];
  return ["## Body", "### As a form `multipart/form-data`", asForm, "### As JSON `application/json`", asJson];
}

/** A status as a link to its first kind of error. */
function errorStatus(status: string): string {
  const kind = errorKinds.find((each) => String(each.status) === status);
  return kind ? `[${status}](/docs/errors#${kind.name})` : status;
}

function section(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** What an endpoint takes and returns, and code that calls it, in Markdown. */
function operationSections(operation: Operation) {
  const responses = Object.entries(operation.responses).map(([status, shown]) => ({ status, ...resolve(shown) }));
  const successes = responses.filter(({ status }) => status.startsWith("2"));
  const others = responses.filter(({ status }) => !status.startsWith("2"));
  const [contentType, { schema, example } = { schema: {} }] = Object.entries(successes[0]?.content ?? {})[0] ?? [];
  const listed: ListedSchemas = new Map();
  return {
    request: section("## Request", ...samplesOf(operation).map(([language, text]) => code(text, language))),
    input: section(...parametersOf(operation), ...bodyOf(operation, listed)),
    response: section(
      "## Response",
      ...successes.map(({ status, description }) => `**${status}** ${description}`),
      contentType?.endsWith("json") ? fieldEntries(schema, false, listed) : "",
      "Every response also has the [headers that all responses share](/docs/requests#headers).",
    ),
    example: section(
      "## Example",
      typeof example === "string" ? code(example, "csv") : code(JSON.stringify(example, undefined, 2), "json"),
    ),
    others: section(
      "## Other responses",
      others.map(({ status, description }) => `- ${errorStatus(status)}: ${description}`).join("\n"),
    ),
  };
}

/** The page of an endpoint as Markdown. */
export function operationMarkdown(operation: Operation): string {
  const { summary, method, path, description } = operation;
  const sections = Object.values(operationSections(operation));
  return documentMarkdown(`${section(`# ${summary}`, `\`${method} ${path}\``, description, ...sections)}\n`);
}

export function endpointLine({ method, path }: Operation): Html {
  return html`<span class="method" data-method="${method}">${method}</span> <code>${path}</code>`;
}

/** The page of an endpoint: code that calls it, what it takes, and what it returns. */
export function operationPage(operation: Operation): Html {
  const { summary, security } = operation;
  const [description, isExtension] = splitExtension(operation.description);
  return html`<main id="content" class="text operation">
    <header>
      <h1>${renderLine(summary)}</h1>
      <p>${endpointLine(operation)} ${isExtension && html`<span class="tag">extension</span>`}</p>
      ${renderMarkdown(description)} ${security && html`<p class="note">No API key is needed.</p>`}
    </header>
    ${renderMarkdown(Object.values(operationSections(operation)).join("\n\n"))}
  </main>`;
}
