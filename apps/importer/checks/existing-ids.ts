import type { Client } from "work-items-client/client.ts";
import { isPlain, otherSpellings } from "../ids/look-alikes.ts";
import type { TrialRows } from "./trial-rows.ts";

/** Limit of the spellings that are looked up: 50 calls. */
const SPELLINGS_MAX = 5000;

/**
 * Looks for items that exist and whose IDs look like those that a trial would create. IDs in other characters come first.
 * @returns the rows with such IDs, with the ID of the item that exists, and the number of IDs that were compared
 */
export async function compareWithExisting(
  { workItems }: Pick<Client, "workItems">,
  { created }: Pick<TrialRows, "created">,
) {
  const ordered = created.toSorted((a, b) => Number(isPlain(a.externalId)) - Number(isPlain(b.externalId)));
  const rows = ordered.map((row) => ({ ...row, others: otherSpellings(row.externalId) }));
  let spellings = 0;
  const compared = rows.filter(({ others }) => (spellings += others.length) <= SPELLINGS_MAX);
  const names = compared.flatMap(({ row, externalId, others }) =>
    others.map((existing) => ({ row, externalId, existing })),
  );
  const externalIds = names.map(({ existing }) => existing);
  const found = names.length === 0 ? [] : await Array.fromAsync(workItems.getMany({ externalIds }));
  const alike = found.flatMap(({ index, data }) => (data ? [names[index]!] : []));
  return { alike, compared: compared.length };
}
