import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { firstItems } from "../file/first-items.ts";
import { isOpen } from "../file/target-questions.ts";
import type { Match } from "../file/use-import.ts";
import { EVENT_NAMES, labelOf, shownPerson, shownValue } from "../parts/field-names.ts";
import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import { ItemStatus } from "../parts/parts.tsx";
import { shownStart, shownTime } from "../parts/shown.ts";

/** How many custom attributes of an item are shown, in two lines. */
const SHOWN_ATTRIBUTES = 8;
const SHOWN_CHARACTERS = 40;

function Item({
  match,
  item: { problems, made },
}: {
  readonly match: Match;
  readonly item: ReturnType<typeof firstItems>[number];
}) {
  if (made === undefined) return <li class="bad">{problems.join(" ")}</li>;
  const { item, input } = made;
  const isZoneAsked = match.localTimes.some(({ isAsked }) => isAsked);
  const asked = new Set<string>(match.states.filter(isOpen).map(({ target }) => target));
  if (isZoneAsked && item.completed_at !== null) asked.add("completed_at");
  const { short_description: subject, ...attributes } = input.custom_attributes ?? {};
  const agent = shownPerson({ name: item.agent_name, email: item.agent_email, external_id: item.agent_external_id });
  const facts: (readonly [target: string, name: string, value: ComponentChildren])[] = [
    ["status", "Status", <ItemStatus status={item.status} />],
    ["agent", "Agent", agent],
    ["completed_at", "Completed at", shownTime(item.completed_at)],
    ["type", "Type", item.type],
    ...Object.entries(input.events?.[0] ?? {}).map(
      ([name, value]) => [name, EVENT_NAMES[name] ?? name, shownValue(value)] as const,
    ),
  ];
  const others = Object.entries(attributes)
    .slice(0, SHOWN_ATTRIBUTES)
    .map(([name, value]) => `${labelOf(ATTRIBUTE_PREFIX + name)}: ${shownStart(shownValue(value), SHOWN_CHARACTERS)}`);
  return (
    <li>
      <h4>{item.external_id}</h4>
      {typeof subject === "string" && <p class="lines">{subject}</p>}
      <dl>
        {facts.map(([target, name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={asked.has(target) ? "pending" : undefined}>
              {value === "" ? "(empty)" : value}
              {asked.has(target) && " ?"}
            </dd>
          </div>
        ))}
      </dl>
      <p class="note lines">{others.join(" · ")}</p>
      {/* Until all is answered, the questions say it. */}
      {match.isAnswered &&
        problems.map((problem) => (
          <p key={problem} class="note">
            {problem}
          </p>
        ))}
    </li>
  );
}

/** The first rows as the items that they would become by the answers so far. */
export function FirstItems({ match }: { readonly match: Match }) {
  const { table, mapping } = match;
  const items = useMemo(() => firstItems(table, mapping), [table, mapping]);
  if (items.length === 0) return null;
  return (
    <section aria-labelledby="first-items">
      <h3 id="first-items">The first rows, as items</h3>
      <ul class="first-items">
        {items.map((item, index) => (
          <Item key={index} match={match} item={item} />
        ))}
      </ul>
    </section>
  );
}
