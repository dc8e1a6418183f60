import { type Html, html } from "./html.ts";
import { type Operation, type Parameter, resolve, type Schema } from "./operations.ts";
import { exampleBody } from "./samples.ts";

/** Headers that browsers set, or whose effect a form doesn't show. */
const HIDDEN = new Set(["If-None-Match"]);

function choices(values: readonly unknown[]): Html {
  return html`<option value="">–</option>
    ${values.map((value) => html`<option>${String(value)}</option>`)}`;
}

/** The field of a parameter. None is filled in, so that a first request shows the person's own data. */
function parameterField({ in: place, name, required = false, schema, example }: Parameter): Html {
  // Of a list the form sends one value.
  const shown = resolve(schema);
  const { enum: values } = resolve(shown.items ?? shown);
  const control =
    values === undefined
      ? html`<input
          name="${place}:${name}"
          ${required && "required"}
          autocomplete="off"
          spellcheck="false"
          ${example !== undefined && place !== "path" && html`placeholder="${example}"`}
        />`
      : html`<select name="${place}:${name}">
          ${choices(values)}
        </select>`;
  return html`<label class="field"><span>${name}</span>${control}</label>`;
}

/** The field of a part of a form. A dry run is chosen unless the person decides otherwise. */
function partField([name, shown]: readonly [string, Schema], isRequired: boolean): Html {
  const { type, format } = resolve(shown);
  if (format === "binary") {
    return html`<label class="field"
      ><span>${name}</span><input type="file" name="part:${name}" ${isRequired && "required"}
    /></label>`;
  }
  return type === "boolean"
    ? html`<label class="field"
        ><span>${name}</span
        ><select name="part:${name}">
          <option>true</option>
          <option>false</option>
        </select></label
      >`
    : html`<label class="field"
        ><span>${name}</span><textarea name="part:${name}" rows="4" spellcheck="false"></textarea>
      </label>`;
}

function bodyField(operation: Operation): Html {
  if (operation.form !== undefined) {
    const { properties = {}, required = [] } = resolve(operation.form.schema);
    return html`${Object.entries(properties).map((entry) => partField(entry, required.includes(entry[0])))}`;
  }
  if (operation.json === undefined) return html``;
  const body = JSON.stringify(exampleBody(operation), undefined, 2);
  return html`<label class="field"
    ><span>Body (JSON)</span
    ><textarea name="body" rows="${Math.min(body.split("\n").length, 18)}" spellcheck="false">${body}</textarea>
  </label>`;
}

/** A form that sends the call. Scripts show and run it. */
export function sendForm(operation: Operation): Html {
  const { method, path, isPublic, parameters } = operation;
  return html`<section aria-labelledby="try">
    <h2 id="try">Try it</h2>
    <form class="send" data-method="${method}" data-path="${path}" hidden>
      ${
        isPublic
          ? html``
          : html`<p>Requests use your key and act on your organization’s data.</p>
              <label class="field"
                ><span>API key</span><input name="key" type="password" required autocomplete="off" placeholder="wi_…"
              /></label>
              <label class="check"><input type="checkbox" name="keep" /> Keep the key in this tab</label>`
      }
      ${parameters.filter(({ name }) => !HIDDEN.has(name)).map(parameterField)} ${bodyField(operation)}
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
