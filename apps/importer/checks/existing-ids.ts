import type { Client, UploadJob } from "work-items-client/client.ts";
import { isPlain, otherSpellings } from "../ids/look-alikes.ts";
import { readFirstResults } from "./first-results.ts";

/** Limit of the rows that are read, and of the spellings that are looked up: 50 calls. */
const ROWS_MAX = 10_000;
const SPELLINGS_MAX = 5000;

/** A row of a trial that would create an item, although one exists whose ID looks the same. */
interface LookAlike {
  readonly row: number;
  readonly externalId: string;
  /** The ID of the item that exists. */
  readonly existing: string;
}

/**
 * Looks for items that exist and whose IDs look like those that a trial would create. IDs in other characters come first.
 * @returns also the number of IDs that were compared, and of those that would be created
 */
export async function compareWithExisting(
  { uploads, workItems }: Pick<Client, "uploads" | "workItems">,
  { id, created_rows: created }: Pick<UploadJob, "id" | "created_rows">,
) {
  const rows: { readonly row: number; readonly externalId: string; readonly others: readonly string[] }[] = [];
  if (created > 0) {
    await readFirstResults(uploads.results(id), ({ row, external_id: externalId, outcome }) => {
      if (outcome === "created") rows.push({ row, externalId, others: otherSpellings(externalId) });
      return rows.length === Math.min(created, ROWS_MAX);
    });
  }
  const ordered = rows.toSorted((a, b) => Number(isPlain(a.externalId)) - Number(isPlain(b.externalId)));
  let spellings = 0;
  const compared = ordered.filter(({ others }) => (spellings += others.length) <= SPELLINGS_MAX);
  const names = compared.flatMap(({ row, externalId, others }) =>
    others.map((existing) => ({ row, externalId, existing })),
  );
  const externalIds = names.map(({ existing }) => existing);
  const found = names.length === 0 ? [] : await Array.fromAsync(workItems.getMany({ externalIds }));
  const alike = found.flatMap(({ index, data }): LookAlike[] => (data ? [names[index]!] : []));
  return { alike, compared: compared.length, created };
}
