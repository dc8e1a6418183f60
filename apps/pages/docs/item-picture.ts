import { type Html, html } from "./html.ts";
import { operations } from "./documented-operations.ts";
import { slugOf } from "./markdown.ts";

interface Person {
  readonly name: string | null;
  readonly email: string | null;
}

/** The parts of the documented item that the picture shows. */
interface Item {
  readonly external_id: string;
  readonly type: string;
  readonly status: string;
  readonly agent: Person;
  readonly custom_attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly content: string; readonly actor: Person; readonly occurred_at: string }[];
}

/** The example of “Get a work item”. */
function exampleItem(): Item {
  const { responses } = operations.find(({ operationId }) => operationId === "getWorkItem")!;
  const { data } = responses["200"]!.content!["application/json"]!.example as { readonly data: Item };
  return data;
}

function term(name: string): Html {
  return html`<a href="{{root}}docs/glossary#${slugOf(name)}">${name}</a>`;
}

/** A line of the picture: what a part is called, an example, and what it is. */
function part(name: Html, value: string, meaning: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}<span class="meaning">${meaning}</span></dd>
  </div>`;
}

/** A picture of the documented work item as a card, whose parts lead to the glossary. */
export function itemPicture(): Html {
  const { external_id: externalId, type, status, agent, custom_attributes: attributes, events } = exampleItem();
  return html`<figure class="item">
    <figcaption>An incident as a work item</figcaption>
    <dl>
      ${part(term("External ID"), externalId, "identifies it in your system")}
      ${part(html`Type`, type, "what kind of work it is")}
      ${part(term("Agent"), [agent.name, agent.email].filter(Boolean).join(", "), "who does the work")}
      ${part(term("Status"), status, "follows from the time of completion, or is what you send")}
      ${part(html`Completed`, "not yet", "when the work was done")}
      ${part(term("QA score"), "not yet", "how good the work was, from 0 to 1")}
      ${Object.entries(attributes).map(([name, value]) =>
        part(term("Custom attribute"), `${name}: ${String(value)}`, "a value of your own"),
      )}
      ${events.map(({ content, actor, occurred_at: at }) =>
        part(
          term("Event"),
          `${content} ${actor.name}, ${at.slice(0, 16).replace("T", " ")} UTC`,
          "what happened to it",
        ),
      )}
    </dl>
  </figure>`;
}
