import { type Html, html } from "./html.ts";
import { type Operation, type Parameter, resolve, type Schema } from "./documented-operations.ts";
import { exampleBody } from "./samples.ts";

/** Headers that browsers set, or whose effect the form doesn't show. */
const HIDDEN = new Set(["If-None-Match"]);

function field(label: string, control: Html): Html {
  return html`<label class="field"><span>${label}</span>${control}</label>`;
}

function choice(name: string, values: readonly unknown[]): Html {
  return html`<select name="${name}">
    ${values.map((value) => html`<option value="${String(value)}">${String(value) || "–"}</option>`)}
  </select>`;
}

/** The field of a parameter. It is empty, so that a first request shows the person's own data. */
function parameterField({ in: location, name, required = false, schema, example }: Parameter): Html {
  // The form sends one value of a list.
  const shown = resolve(schema);
  const { enum: values } = resolve(shown.items ?? shown);
  if (values !== undefined) return field(name, choice(`${location}:${name}`, ["", ...values]));
  const placeholder = example !== undefined && location !== "path" && html`placeholder="${example}"`;
  return field(
    name,
    html`<input
      name="${location}:${name}"
      ${required && "required"}
      autocomplete="off"
      spellcheck="false"
      ${placeholder}
    />`,
  );
}

/** The field of a part of a form. A dry run is preselected. */
function partField([name, shown]: readonly [string, Schema], isRequired: boolean): Html {
  const { type, format } = resolve(shown);
  if (type === "boolean") return field(name, choice(`part:${name}`, [true, false]));
  return field(
    name,
    format === "binary"
      ? html`<input type="file" name="part:${name}" ${isRequired && "required"} />`
      : html`<textarea name="part:${name}" rows="4" spellcheck="false"></textarea>`,
  );
}

function bodyFields(operation: Operation): readonly Html[] {
  const { "multipart/form-data": form, "application/json": json } = operation.requestBody?.content ?? {};
  if (form !== undefined) {
    const { properties = {}, required = [] } = resolve(form.schema);
    return Object.entries(properties).map((entry) => partField(entry, required.includes(entry[0])));
  }
  if (json === undefined) return [];
  const body = JSON.stringify(exampleBody(operation), undefined, 2);
  const rows = Math.min(body.split("\n").length, 18);
  return [field("Body (JSON)", html`<textarea name="body" rows="${rows}" spellcheck="false">${body}</textarea>`)];
}

const keyFields = html`<p>Requests use your key and act on your organization’s data.</p>
  ${field("API key", html`<input name="key" type="password" required autocomplete="off" placeholder="wi_…" />`)}
  <label class="check"><input type="checkbox" name="keep" /> Keep the key in this tab</label>`;

/** A form that sends the call. It is only shown where scripts run. */
export function sendForm(operation: Operation): Html {
  const { method, path, security, parameters } = operation;
  return html`<section aria-labelledby="try">
    <h2 id="try">Try it</h2>
    <form class="send" data-method="${method}" data-path="${path}" hidden>
      ${!security && keyFields} ${parameters.filter(({ name }) => !HIDDEN.has(name)).map(parameterField)}
      ${bodyFields(operation)}
      <button class="main">Send ${method}</button>
      <div class="sent" role="status" aria-live="polite">
        <p></p>
        <div hidden>
          <details>
            <summary>Headers</summary>
            <pre tabindex="0"></pre>
          </details>
          <pre tabindex="0"></pre>
        </div>
      </div>
    </form>
    <noscript><p>Sending requests from this page needs JavaScript. The code on this page works anywhere.</p></noscript>
  </section>`;
}
