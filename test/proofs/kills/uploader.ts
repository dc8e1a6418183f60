import { randomFrom } from "../../support/random.ts";
import { workItemId } from "../../../lib/identity.ts";
import { expectedOf, type UploadRow } from "../faults/upload-file.ts";
import { applyInput, type ItemInput, type ModelItem } from "../model/reference-item.ts";
import { uploadByForm } from "../rolling/upload-callers.ts";
import { ORGANIZATION, type PatientCaller } from "./callers.ts";

type Report = (difference: object) => void;

/**
 * Rows whose item has no other row. `new`: the row creates it; `gone`: it was deleted, so that the row restores it;
 * `changed`: the row changes its type; `kept`: it is as in the row already, which brings at most an event.
 */
const SINGLE_KINDS = ["new", "gone", "changed", "kept"] as const;
const SINGLES_OF_A_KIND = 4;
/** The singles stand anywhere from one of these rows on: those before it are all new. */
const SINGLES_FROM = [0, 120, 220] as const;
const ROWS = { once: 300, changed: 40, same: 30, invalid: 20 } as const;
/** What files are, in turn. Every other one is posted by a form. */
const FILE_KINDS = ["with events", "tried", "plain"] as const;
const MAPPING = {
  fields: { external_id: { column: "Ticket" }, type: { column: "Kind" }, status: { column: "State" } },
  event: { external_id: { column: "Step" }, content: { column: "Kind" } },
  delimiter: ";",
};

/** A row whose item has no other row, so that a client can see whether it is applied. */
export interface Single {
  readonly kind: (typeof SINGLE_KINDS)[number];
  readonly externalId: string;
  /** Whether the row brings an event. */
  readonly hasEvent: boolean;
}
/** A job of an upload, what it should have counted in the end, and what its items should be. */
export interface UploadedJob {
  readonly id: string;
  readonly isTried: boolean;
  readonly counters: Readonly<Record<string, number>>;
  /** The items in the end, by external_id; those from before the upload if it was only tried. */
  readonly items: ReadonlyMap<string, ModelItem>;
  readonly singles: readonly Single[];
}
/** What `runUploader` does. */
export interface Uploads {
  readonly count: number;
  readonly seed: number;
  /** Called after each upload. */
  readonly pause: (uploaded: number) => Promise<unknown>;
  /** Called with each job once it is accepted. */
  readonly onAccepted?: (job: UploadedJob) => void;
  readonly report: Report;
}

/** The external_ids of the items that are not deleted. */
export function presentIn(items: ReadonlyMap<string, ModelItem>): string[] {
  return [...items].filter(([, { deleted }]) => !deleted).map(([externalId]) => externalId);
}

/** The rows of a file, and which of them are singles. */
function makeRows(name: string, hasEvents: boolean, random: () => number) {
  const ids = Array.from({ length: ROWS.once }, (_, row) => `${name}-${row}`);
  const cells: (readonly [id: string, type: string, status: string, event: string])[] = [
    ...ids.map((id) => [id, "first", "", "e0"] as const),
    ...ids.slice(0, ROWS.changed).map((id) => [id, "second", "", "e1"] as const),
    ...ids.slice(0, ROWS.same).map((id) => [id, "second", "", "e1"] as const),
    ...ids.slice(0, ROWS.invalid).map((id) => [id, "third", "nonsense", "e2"] as const),
  ];
  const from = SINGLES_FROM[Math.floor(random() * SINGLES_FROM.length)]!;
  const singles = SINGLE_KINDS.flatMap((kind) =>
    Array.from({ length: SINGLES_OF_A_KIND }, (_, number): Single => {
      return { kind, externalId: `${name}-${kind}-${number}`, hasEvent: hasEvents };
    }),
  );
  for (const { externalId } of singles) {
    const place = from + Math.floor(random() * (cells.length - from));
    cells.splice(place, 0, [externalId, "first", "", "e0"]);
  }
  const rows = cells.map(([external_id, type, status, event], number): UploadRow => {
    const events = hasEvents ? [{ external_id: event, content: type }] : [];
    return { number, isValid: status === "", input: { external_id, type, events } };
  });
  return { cells, rows, singles };
}

/** Makes the items that are there before an upload. */
async function prepare({ call }: PatientCaller, singles: readonly Single[], report: Report): Promise<ModelItem[]> {
  const existing = singles.filter(({ kind }) => kind !== "new");
  const inputs = existing.map(({ kind, externalId }): ItemInput => {
    return { external_id: externalId, type: kind === "changed" ? "before" : "first" };
  });
  for (let isDone = false; !isDone;) {
    const { body } = await call("POST", "/v1/work_items/batch", { work_items: inputs });
    const { results } = body.data as { readonly results: readonly { readonly status: string }[] };
    isDone = results.every(({ status }) => status !== "error");
  }
  for (const { externalId } of existing.filter(({ kind }) => kind === "gone")) {
    const response = await call("DELETE", `/v1/work_items/${workItemId(ORGANIZATION, externalId)}`);
    if (response.status !== 200) report({ delete: externalId, response });
  }
  return inputs.map((input, index) => ({
    ...applyInput(undefined, input, "").item,
    deleted: existing[index]?.kind === "gone",
  }));
}

/** Uploads files with an `Idempotency-Key`, as a request or by a form. @returns the acknowledged jobs */
export async function runUploader(caller: PatientCaller, uploads: Uploads): Promise<readonly UploadedJob[]> {
  const { count, seed, pause, onAccepted, report } = uploads;
  const random = randomFrom(seed);
  const jobs: UploadedJob[] = [];
  while (jobs.length < count) {
    const name = `job${jobs.length}`;
    const kind = FILE_KINDS[jobs.length % FILE_KINDS.length]!;
    const isPlain = kind === "plain";
    const isTried = kind === "tried";
    const { cells, rows, singles } = makeRows(name, !isPlain, random);
    const before = await prepare(caller, singles, report);
    const table = isPlain
      ? [["external_id", "type", "status"], ...cells.map((row) => row.slice(0, 3))]
      : [["Ticket", "Kind", "State", "Step"], ...cells];
    const text = table.map((row) => `${row.join(isPlain ? "," : MAPPING.delimiter)}\n`).join("");
    const options = { ...(!isPlain && { mapping: MAPPING }), dry_run: isTried };
    const isForm = jobs.length % 2 === 0;
    const id = await (isForm
      ? uploadByForm(caller, name, text, report, options)
      : uploadByRequest(caller, name, text, report, options));
    if (id === undefined) break;
    const { counters, items } = expectedOf(ORGANIZATION, { rows }, before);
    const succeeded_rows = counters.total_rows - counters.failed_rows;
    const after = isTried ? new Map(before.map((item) => [item.external_id, item])) : items;
    const job = { id, isTried, counters: { ...counters, succeeded_rows }, items: after, singles };
    jobs.push(job);
    onAccepted?.(job);
    await pause(jobs.length);
  }
  return jobs;
}

/** Uploads a file in one request. @returns the job's id */
async function uploadByRequest(
  { call }: PatientCaller,
  name: string,
  text: string,
  report: Report,
  { mapping, dry_run }: { readonly mapping?: object; readonly dry_run: boolean },
): Promise<string | undefined> {
  const form = new FormData();
  form.append("upload[file]", new Blob([text], { type: "text/csv" }), "items.csv");
  if (mapping !== undefined) form.append("upload[mapping]", JSON.stringify(mapping));
  form.append("upload[dry_run]", String(dry_run));
  const response = await call("POST", "/v1/work_items/upload", form, name);
  if (response.status === 202) return (response.body.data as { readonly id: string }).id;
  report({ upload: name, response });
  return undefined;
}
