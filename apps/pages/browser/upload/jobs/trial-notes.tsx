import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { compareWithExisting } from "@work-items/importer/checks/existing-ids.ts";
import type { TrialRow, TrialRows } from "@work-items/importer/checks/trial-rows.ts";
import { openQuestions } from "../file/answers.ts";
import { isSameMapping, zoneOf } from "../file/compare-mappings.ts";
import { rememberedFile } from "../file/remembered.ts";
import type { Api, Job } from "../parts/api.ts";
import { Alert, Answered, Button, TextField } from "../parts/parts.tsx";
import { countOf, shownNumber } from "../parts/shown.ts";
import type { Sent } from "../file/send.ts";
import { changeSingles, TIME_ZONE } from "../file/sources.ts";
import { unfilled } from "../file/table-file.ts";
import { ChangedRows, NewItems, readItems, sentenceOfChanges } from "./trial-items.tsx";
import { Contradictions, type FileValues, readValues, TrialValues } from "./trial-values.tsx";
import { useLoaded } from "../parts/use-calls.ts";

/** How many earlier imports are compared with the mapping of a trial. */
const COMPARED_JOBS = 20;
/** How many new items are shown. */
const SHOWN_NEW = 2;

/** The mapping whose IDs have a prefix. */
export function withPrefix(mapping: Mapping, prefix: string): Mapping {
  const { external_id: id = {}, ...fields } = mapping.fields ?? {};
  return { ...mapping, fields: { external_id: changeSingles(id, (single) => ({ ...single, prefix })), ...fields } };
}

/** The mapping of the last import with the same columns. After one, existing items are expected to change. */
async function earlierMapping(api: Api, job: Job, sent: Sent | undefined): Promise<Mapping | undefined> {
  const known = sent && rememberedFile(api, sent.table).importId;
  const idsIn = ({ fields: { external_id: ids = {} } = {} }: Mapping): Mapping => ({ fields: { external_id: ids } });
  const { data } = await api.list<Job>("v1/work_items/upload", { limit: "100" });
  const imports = data.filter(
    ({ dry_run: isTrial, status, id }) => !isTrial && status === "completed" && id !== job.id,
  );
  for (const { id } of imports.filter((each, index) => index < COMPARED_JOBS || each.id === known)) {
    const { mapping } = await api.uploads.get(id);
    // Of the same header, whatever else was changed since.
    const part = id === known ? idsIn : (all: Mapping): Mapping => all;
    if (mapping && job.mapping && isSameMapping(part(mapping), part(job.mapping))) return mapping;
  }
  return undefined;
}

/** The items of rows as they would be. If items would change, also the mapping of an earlier import of such a file, if there is one. */
async function readNotes(api: Api, job: Job, { examples, changed }: TrialRows, sent: Sent | undefined) {
  const news = examples.filter(({ outcome }) => outcome === "created").slice(0, SHOWN_NEW);
  const [items, earlier] = await Promise.all([
    readItems(api, job, [...news, ...changed], sent),
    changed.length > 0 ? earlierMapping(api, job, sent) : undefined,
  ]);
  const itemsOf = (rows: readonly TrialRow[]) =>
    rows.flatMap(({ row }) => items.find((each) => each.row === row) ?? []);
  return { news: itemsOf(news).filter(({ fields }) => fields.size > 0), changed: itemsOf(changed), earlier };
}

/** A prefix that the name of a file suggests: "tickets-" for "Tickets 2023.csv". */
function suggestedPrefix(fileName: string): string {
  const [word = "import"] = /\p{L}+/u.exec(fileName.replace(/\.\w+$/, "")) ?? [];
  return `${word.toLowerCase()}-`;
}

/** Asks whether the items come from another system. A prefix keeps them apart. */
function SameQuestion({
  fileName,
  onSame,
  onPrefix,
}: {
  readonly fileName: string;
  readonly onSame: () => void;
  readonly onPrefix: (prefix: string) => void;
}) {
  const [prefix, setPrefix] = useState(suggestedPrefix(fileName));
  return (
    <fieldset class="question">
      <legend>Are these the same items?</legend>
      <p>
        No file with these columns has been imported before. If the file comes from another system, its IDs may match by
        coincidence.
      </p>
      <p class="buttons">
        <Button onClick={onSame}>Yes, change these items</Button>
      </p>
      <div class="buttons">
        <TextField label="Prefix for IDs" value={prefix} onChange={setPrefix} />
        <Button disabled={prefix === ""} onClick={() => onPrefix(prefix)}>
          No, run the trial again with this prefix
        </Button>
      </div>
    </fieldset>
  );
}

/** How many rows are named. */
const NAMED_ROWS = 20;

/** The first rows, each with a text about it. */
function FirstRows({ rows }: { readonly rows: readonly { readonly row: number; readonly text: string }[] }) {
  return (
    <ul>
      {rows.slice(0, NAMED_ROWS).map(({ row, text }) => (
        <li key={row}>
          Row {row}: {text}
        </li>
      ))}
      {rows.length > NAMED_ROWS && <li>and {countOf(rows.length - NAMED_ROWS, "more row")}</li>}
    </ul>
  );
}

/** The rows that are left out because they don't look like items. */
function LeftOutRows({ sent: { table, leftOut } }: { readonly sent: Sent }) {
  const rows = unfilled(table).survey.totals.filter(({ row }) => leftOut.has(row));
  if (rows.length === 0) return null;
  return (
    <div class="warning">
      <p>
        <strong>
          {countOf(rows.length, "row")} {rows.length === 1 ? "isn’t" : "aren’t"} imported
        </strong>
        , because{" "}
        {rows.length === 1 ? "it looks like a total, a note or a header" : "they look like totals, notes or headers"}:
      </p>
      <FirstRows
        rows={rows.map(({ row, cells }) => ({ row, text: cells.filter((cell) => cell.trim() !== "").join(", ") }))}
      />
    </div>
  );
}

/** The rows whose new IDs look like that of an item that exists. */
function AlikeIds({ api, created, rows }: { readonly api: Api; readonly created: number; readonly rows: TrialRows }) {
  const { alike = [], compared = created } = useLoaded(() => compareWithExisting(api, rows)).value ?? {};
  return (
    <>
      {alike.length > 0 && (
        <div class="warning">
          <p>
            <strong>
              {countOf(alike.length, "new ID")} {alike.length === 1 ? "looks" : "look"} like that of an item that exists
            </strong>
            , written with other characters. Correct the file if the same item is meant:
          </p>
          <FirstRows
            rows={alike.map(({ row, externalId, existing }) => ({ row, text: `${externalId} looks like ${existing}` }))}
          />
        </div>
      )}
      {compared < created && (
        <p class="note">
          {shownNumber(compared)} of {countOf(created, "new ID")} were compared with those that exist.
        </p>
      )}
    </>
  );
}

/**
 * What a trial run found: problems, what would change, items as they would be, and the values of the file.
 * @param question another question about what would change
 * @param children further problems
 * @param next what comes after it, once all changes are shown: by whether the items that would change may be another system's
 */
export function TrialNotes({
  api,
  job,
  reading,
  sent,
  onSame,
  onPrefix,
  question,
  children,
  next,
}: {
  readonly api: Api;
  readonly job: Job;
  /** What its results show. */
  readonly reading: ReturnType<typeof useLoaded<TrialRows | undefined>>;
  /** Its file; undefined if this page doesn't have it. */
  readonly sent: Sent | undefined;
  /** Called if the items that would change are those of the file. */
  readonly onSame: () => void;
  /** Runs the trial again. */
  readonly onPrefix: (prefix: string) => void;
  readonly question: ComponentChildren;
  readonly children: ComponentChildren;
  readonly next: (isInDoubt: boolean) => ComponentChildren;
}) {
  const { value: rows } = reading;
  const noted = useLoaded(async () => rows && readNotes(api, job, rows, sent), [rows]);
  const { value: notes } = noted;
  const { error, again } = rows ? noted : reading;
  // The file may be gone. Then the import says so.
  const { value: values } = useLoaded<FileValues | undefined>(
    async (signal, show) => sent && readValues(job, sent, signal, show),
  );
  const { news = [], changed = [], earlier } = notes ?? {};
  const hasChanges = job.updated_rows + job.restored_rows > 0;
  const zone = job.mapping && zoneOf(job.mapping);
  const earlierZone = earlier && zoneOf(earlier);
  const questions = sent && openQuestions(sent.table, sent.mapping, new Set());
  const hasLocalTimes = questions?.some(({ kind }) => kind === "zone") === true;
  const isInDoubt = changed.length > 0 && earlier === undefined && sent?.areSame !== true;
  const changes = changed.length > 0 && (
    <div class="warning">
      <p>
        <strong>This file would change items that already exist.</strong> {sentenceOfChanges(job)}
      </p>
      {isInDoubt && sent && <SameQuestion fileName={job.file_name ?? ""} {...{ onSame, onPrefix }} />}
      {sent?.areSame && <Answered>These are the same items.</Answered>}
      {question}
      <ChangedRows job={job} rows={changed} />
    </div>
  );
  return (
    <>
      {zone !== undefined && zone !== TIME_ZONE && (
        <p class="note">Times are in {TIME_ZONE}, this computer’s time zone.</p>
      )}
      <div role="status">
        {/* Before all else: the items may be those of another system. */}
        {earlier === undefined && changes}
        {hasLocalTimes && zone && earlierZone && zone !== earlierZone && (
          <p class="warning">
            <strong>
              Times are read in {zone}. The last import of a file like this read them in {earlierZone}.
            </strong>{" "}
            If both files are from the same system, one of the two is wrong, and completion times would move by hours.
          </p>
        )}
        {values?.findings && <Contradictions {...values.findings} />}
      </div>
      {sent && <LeftOutRows sent={sent} />}
      {rows && <AlikeIds api={api} created={job.created_rows} rows={rows} />}
      {children}
      <div role="status">
        {hasChanges && !notes && error === undefined && <p>Loading what would change…</p>}
        {earlier && changes}
      </div>
      {notes && changed.length === 0 && question}
      <Alert text={error} />
      {error !== undefined && <Button onClick={again}>Try again</Button>}
      <NewItems items={news} />
      {sent && <TrialValues job={job} values={values} />}
      {(notes || !hasChanges) && next(isInDoubt)}
    </>
  );
}
