import { createWriteStream, fstatSync } from "node:fs";
import { lstat, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { dataOf } from "work-items-client/api-error.ts";
import type { Client } from "work-items-client/client.ts";
import type { RowListName } from "@work-items/lib/uploads/files/row-list.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { STANDARD_INPUT } from "./open-csv.ts";

/**
 * Removes a list of an earlier import, which would look as if it was of this one. The file that is imported stays: it may be
 * such a list, with corrected rows. So do links and devices, such as /dev/stdout.
 * @param input path of the file that is imported
 */
export async function removeEarlierList(input: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const earlier = await lstat(file).catch(() => undefined);
  if (earlier?.isFile() !== true) return;
  const imported = input === STANDARD_INPUT ? fstatSync(0) : await stat(input);
  if (earlier.dev !== imported.dev || earlier.ino !== imported.ino) await rm(file);
}

/** Writes one of a job's lists to a file, if a file is named and the list has rows. @throws CommandError */
export async function saveList(
  terminal: Terminal,
  { http }: Client,
  id: string,
  list: RowListName,
  file: string | undefined,
): Promise<void> {
  if (file === undefined) return;
  const { url } = await dataOf(http.GET(`/v1/work_items/upload/{id}/${list}`, { params: { path: { id } } }));
  if (url === null) return;
  const { ok, status, body } = await fetch(url);
  if (!ok || body === null) throw new CommandError(`${list} cannot be downloaded: ${status}`);
  await pipeline(Readable.fromWeb(body as never), createWriteStream(file));
  terminal.note(`${list} are in ${file}`);
}
