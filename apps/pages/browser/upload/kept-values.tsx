import type { ComponentChildren } from "preact";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Api, Job } from "./api.ts";
import { EVENT_NAMES, FIELD_NAMES, shownValue } from "./field-names.ts";
import { Alert, Table } from "./parts.tsx";
import { countOf, shownNumber } from "./shown.ts";
import { useLoaded } from "./use-calls.ts";

/** How many rows are shown, and how many fields of each. */
const SHOWN_ROWS = 100;
const SHOWN_FIELDS = 20;

const REASONS: Readonly<Record<string, string>> = {
  changed: "Changed since",
  in_use: "Item changed since",
  in_use_by_event: "Event of the item changed since",
  forgotten: "Too many later imports",
  too_large: "Too large to restore",
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

/** What stays of a row, as in the results. */
interface Kept {
  readonly reason: string;
  readonly fields: Readonly<Record<string, { readonly imported: unknown; readonly now: unknown }>>;
}

/** The table's rows for one row of the results: one for each field that stays. */
function rowsOf([, externalId = "", id = "", , kept = ""]: readonly string[]): ComponentChildren[][] {
  const { reason, fields } = JSON.parse(kept) as Kept;
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

/** The first rows in which an undo keeps something. A result is row, external_id, id, outcome, kept. */
async function readKept(api: Api, job: Job) {
  const rows: ComponentChildren[][][] = [];
  let count = 0;
  const isRead = await api.readResults(job.id, (cells) => {
    if (cells[4] === "") return;
    if (rows.length < SHOWN_ROWS) rows.push(rowsOf(cells));
    count += 1;
  });
  return { rows, isWhole: isRead && count === rows.length };
}

/** The rows in which an undo keeps something, with both values of each field. */
export function KeptValues({ api, job }: { readonly api: Api; readonly job: Job }) {
  const { value: kept, error } = useLoaded(() => readKept(api, job));
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">{job.dry_run ? "What would be kept" : "What was kept"}</h2>
      <Alert text={error} />
      {kept && (
        <>
          <p>
            Someone has changed or used the items of these rows since the import.
            {!kept.isWhole && ` These are the first ${shownNumber(kept.rows.length)}; the results have all of them.`}
          </p>
          <Table
            caption="Kept values"
            columns={["Item", "Field", "Value in the file", "Value now", "Why it’s kept"]}
            rows={kept.rows.flat()}
          />
        </>
      )}
    </section>
  );
}
