import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import type { ExportPlace } from "../data/export-organization.ts";
import { UsageError } from "../../../infra/command-line.ts";
import { plainReason } from "../../../infra/plain-reason.ts";
import { jsonLines } from "@work-items/cli/json-lines.ts";

/** What is exported: only an export of the same data continues a file. */
interface Source {
  readonly organization: string;
  readonly table: string;
}
/** What is kept beside a file that is not complete. */
interface Kept extends Source {
  /** Bytes of the file that belong to the place; more may have been written. */
  readonly bytes: number;
  readonly place: ExportPlace;
}

function readKept(file: string, source: Source): Kept | undefined {
  if (!existsSync(file)) return undefined;
  const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
  return kept.organization === source.organization && kept.table === source.table ? kept : undefined;
}

/** The external_ids of the items in the first bytes of a file. */
async function itemsIn(file: string, bytes: number): Promise<string[]> {
  const items: string[] = [];
  if (bytes === 0) return items;
  for await (const line of jsonLines(createReadStream(file, { end: bytes - 1 }))) {
    const { work_item: item } = JSON.parse(line ?? "") as { readonly work_item?: { readonly external_id: string } };
    if (item !== undefined) items.push(item.external_id);
  }
  return items;
}

/**
 * Opens the file of an export, which only its owner can read. It has its name only when it is complete. An export that
 * was interrupted continues in its `<file>.partial`, from the place in `<file>.partial.json`.
 * @throws UsageError if the file cannot be written, or is complete and may not be overwritten
 */
export async function openExportFile(file: string, source: Source, overwrite = false) {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`--file: ${file} is a directory`);
  if (!overwrite && existsSync(file)) {
    throw new UsageError(`--file: ${file} exists; name another file, or add --overwrite to replace it when complete`);
  }
  const partial = `${file}.partial`;
  const placeFile = `${partial}.json`;
  const kept = existsSync(partial) ? readKept(placeFile, source) : undefined;
  const handle = await open(partial, "a", 0o600).catch((error: unknown) => {
    throw new UsageError(`--file ${file}: ${plainReason(error)}`);
  });
  let bytes = kept?.bytes ?? 0;
  await handle.truncate(bytes);
  return {
    /** Where an interrupted export continues; undefined if this one begins. */
    from: kept && { place: kept.place, items: await itemsIn(partial, kept.bytes) },
    write: async (lines: string): Promise<void> => {
      await handle.appendFile(lines);
      bytes += Buffer.byteLength(lines);
    },
    /** Keeps the place up to which the file is written. */
    keepPlace: async (place: ExportPlace): Promise<void> => {
      // Renamed, so that an interruption leaves either the old or the new one.
      await writeFile(`${placeFile}.new`, JSON.stringify({ ...source, bytes, place } satisfies Kept), { mode: 0o600 });
      await rename(`${placeFile}.new`, placeFile);
    },
    /** Gives the complete file its name. */
    finish: async (): Promise<void> => {
      await handle.sync();
      await handle.close();
      await rename(partial, file);
      await rm(placeFile, { force: true });
    },
    [Symbol.asyncDispose]: (): Promise<void> => handle.close(),
  };
}
