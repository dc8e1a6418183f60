import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { ExportPosition, ExportSource } from "../data/export-organization.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import { jsonLines } from "@work-items/cli/json-lines.ts";

/** What is saved beside an incomplete file. Only an export of the same source continues it. */
interface Progress {
  readonly source: ExportSource;
  /** How many bytes of the file come before the position. The file may have more. */
  readonly bytes: number;
  readonly position: ExportPosition;
}

function readProgress(file: string, source: ExportSource): Progress | undefined {
  if (!existsSync(file)) return undefined;
  const saved = JSON.parse(readFileSync(file, "utf8")) as Progress;
  return isDeepStrictEqual(saved.source, source) ? saved : undefined;
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
 * Opens the file of an export, which only its owner can read. It gets its name when it is complete. An interrupted export
 * continues in `<file>.partial`, from the position in `<file>.partial.json`.
 * @throws UsageError if the file can't be written, or is complete and may not be overwritten
 */
export async function openExportFile(file: string, source: ExportSource, overwrite = false) {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`--file: ${file} is a directory`);
  if (!overwrite && existsSync(file)) {
    throw new UsageError(`--file: ${file} exists; name another file, or add --overwrite to replace it when complete`);
  }
  const partial = `${file}.partial`;
  const positionFile = `${partial}.json`;
  const saved = existsSync(partial) ? readProgress(positionFile, source) : undefined;
  const handle = await open(partial, "a", 0o600).catch((error: unknown) => {
    throw new UsageError(`--file ${file}: ${plainReason(error)}`);
  });
  let bytes = saved?.bytes ?? 0;
  await handle.truncate(bytes);
  return {
    /** Where an interrupted export continues; undefined for a new one. */
    from: saved && { position: saved.position, items: await itemsIn(partial, saved.bytes) },
    write: async (lines: string): Promise<void> => {
      await handle.appendFile(lines);
      bytes += Buffer.byteLength(lines);
    },
    /** Saves the position up to which the file is written. */
    savePosition: async (position: ExportPosition): Promise<void> => {
      // A rename is atomic: an interruption leaves the old file or the new one.
      await writeFile(`${positionFile}.new`, JSON.stringify({ source, bytes, position } satisfies Progress), {
        mode: 0o600,
      });
      await rename(`${positionFile}.new`, positionFile);
    },
    /** Gives the complete file its name. */
    finish: async (): Promise<void> => {
      await handle.sync();
      await handle.close();
      await rename(partial, file);
      await rm(positionFile, { force: true });
    },
    [Symbol.asyncDispose]: (): Promise<void> => handle.close(),
  };
}
