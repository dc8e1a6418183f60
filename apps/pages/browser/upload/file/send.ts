import type { Mapping as SentMapping } from "work-items-client/client.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Api, type Job, newKey, NO_CONNECTION } from "../parts/api.ts";
import { withoutRows } from "@work-items/importer/files/change-rows.ts";
import { keepFile } from "./remembered.ts";
import { GONE, isGone, type SurveyedTable, type TableFile } from "./table-file.ts";

/** A file that was sent. It is kept so that it can be imported after its trial. */
export interface Sent {
  readonly jobId: string;
  readonly table: SurveyedTable;
  readonly mapping: Mapping;
  /** Numbers of the rows that are left out. */
  readonly leftOut: ReadonlySet<number>;
  readonly dryRun: boolean;
  /** Whether a person said that items that would change are those of the file. */
  readonly areSame?: boolean;
  /**
   * The last trial that ended: what it tried (`triedBy`), in a line what it found, and the number of rows that reopen items and
   * leave their completion dates, which a person has to decide.
   */
  readonly trial?:
    | {
        readonly id: string;
        readonly of: string;
        readonly found: string;
        readonly reopened: number;
      }
    | undefined;
}

/** A mapping and the rows that are left out as a text, to compare them. */
export function triedBy({ mapping, leftOut }: Pick<Sent, "mapping" | "leftOut">): string {
  return JSON.stringify([mapping, [...leftOut].toSorted((a, b) => a - b)]);
}

type Sending = Omit<Sent, "jobId">;

/** Idempotency keys of unanswered uploads, by file and content. */
const unanswered = new WeakMap<TableFile, Map<string, string>>();

/** The idempotency key of an upload until it is answered, so that a repeated click or a lost response makes no second job. */
function keyOf({ table, dryRun, ...content }: Sending) {
  const keys = unanswered.get(table) ?? new Map<string, string>();
  unanswered.set(table, keys);
  const what = triedBy(content) + String(dryRun);
  const key = keys.get(what) ?? newKey();
  keys.set(what, key);
  return { key, forget: () => void keys.delete(what) };
}

/** Posts a file to the bucket. Only XMLHttpRequest says how much was sent. */
function post(url: string, form: FormData, onProgress: (sent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () =>
      request.status < 300 ? resolve() : reject(new Error(`The file was rejected (${request.status}). Try again.`)),
    );
    request.addEventListener("error", () => reject(new Error(NO_CONNECTION)));
    request.open("POST", url);
    request.send(form);
  });
}

/** Sends a file and shows its job. @param earlier job whose mapping is reused if it is the same */
export async function send(
  api: Api,
  sending: Sending,
  onSent: (sent: Sent) => void,
  onProgress: (sent: number) => void = () => undefined,
  earlier?: Job,
): Promise<void> {
  const { table, mapping, dryRun, leftOut, trial } = sending;
  const isEarlier = earlier !== undefined && JSON.stringify(earlier.mapping) === JSON.stringify(mapping);
  const { key, forget } = keyOf(sending);
  if (await isGone(table.content)) throw new Error(GONE);
  const content = await withoutRows(table.content, leftOut, table.delimiter);
  const sent = isEarlier ? { from: earlier.id } : mapping;
  const { id: jobId } = await api.uploads.upload(new Blob([content], { type: "text/csv" }), {
    filename: table.name,
    mapping: sent as SentMapping,
    dryRun,
    idempotencyKey: key,
    postForm: (url, form) => post(url, form, onProgress),
  });
  forget();
  if (!dryRun) keepFile(api, table, { importId: jobId });
  onSent({ ...sending, jobId, trial: dryRun ? undefined : trial });
  location.hash = `#job=${jobId}`;
}
