import type { ComponentChildren } from "preact";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Api, Job } from "./api.ts";
import { EVENT_NAMES, FIELD_NAMES, shownValue } from "./field-names.ts";
import { Alert, Table } from "./parts.tsx";
import { countOf, shownNumber } from "./shown.ts";
import { useLoaded } from "./use-calls.ts";

/** So many items and fields of each are shown. */
const SHOWN_ITEMS = 100;
const SHOWN_FIELDS = 20;

const REASONS: Readonly<Record<string, string>> = {
  changed: "Changed since",
  in_use: "Item used since",
  forgotten: "Too many later imports",
};

/** The name of a kept field for people: `status`, `custom_attributes.<name>` or `events.<external_id>.<name>`. */
function labelOf(name: string): string {
  if (name.startsWith(ATTRIBUTE_PREFIX)) return name.slice(ATTRIBUTE_PREFIX.length);
  const [, event, field = name] = /^events\.(?<event>.*)\.(?<field>\w+)$/su.exec(name) ?? [];
  const label = FIELD_NAMES[field] ?? EVENT_NAMES[field] ?? field;
  return event === undefined ? label : `${label} (event ${event})`;
}

function shownOrEmpty(value: unknown): string {
  return value === null ? "(empty)" : shownValue(value);
}

/** The table's rows of an item, one for each field that it keeps, from its row in the results. */
function rowsOf([, externalId = "", id = "", , reason = "", kept = ""]: readonly string[]): ComponentChildren[][] {
  const fields = kept === "" ? {} : (JSON.parse(kept) as Record<string, { imported: unknown; now: unknown }>);
  const names = Object.keys(fields);
  const link = <a href={`#item=${id}`}>{externalId}</a>;
  const why = REASONS[reason] ?? reason;
  if (names.length === 0) return [[link, "(whole item)", "", "", why]];
  const rows = names.slice(0, SHOWN_FIELDS).map((name) => {
    const { imported, now } = fields[name]!;
    return [link, labelOf(name), shownOrEmpty(imported), shownOrEmpty(now), why];
  });
  const more = names.length - rows.length;
  return more === 0 ? rows : [...rows, [link, `and ${countOf(more, "other field")}`, "", "", why]];
}

/** The first items of which an undo keeps something. Results are row, external_id, id, outcome, reason, kept. */
async function readKept(api: Api, job: Job) {
  const items: ComponentChildren[][][] = [];
  let count = 0;
  const isRead = await api.readResults(job.id, (cells) => {
    if (cells[4] === "") return;
    if (items.length < SHOWN_ITEMS) items.push(rowsOf(cells));
    count += 1;
  });
  return { items, isWhole: isRead && count === items.length };
}

/** The items of which an undo keeps something, with both values of each field. */
export function KeptValues({ api, job }: { readonly api: Api; readonly job: Job }) {
  const { value: kept, error } = useLoaded(() => readKept(api, job));
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">{job.dry_run ? "What would be kept" : "What was kept"}</h2>
      <Alert text={error} />
      {kept && (
        <>
          <p>
            Someone has changed or used these items since the import.
            {!kept.isWhole && ` These are the first ${shownNumber(kept.items.length)}; the results have all of them.`}
          </p>
          <Table
            caption="Kept values"
            columns={["Item", "Field", "Value in the file", "Value now", "Why it’s kept"]}
            rows={kept.items.flat()}
          />
        </>
      )}
    </section>
  );
}
