import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { dataOf } from "work-items-client/api-error.ts";
import type { Client } from "work-items-client/client.ts";
import type { RowListName } from "../../../lib/uploads/files/row-list.ts";
import { CommandError } from "../../../infra/command-line.ts";
import type { Terminal } from "../../../infra/terminal.ts";

/** One of a job's lists; undefined if it has no rows. @throws CommandError */
export async function readList(
  { http }: Client,
  id: string,
  list: RowListName,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { url } = await dataOf(http.GET(`/v1/work_items/upload/{id}/${list}`, { params: { path: { id } } }));
  if (url === null) return undefined;
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new CommandError(`${list} cannot be downloaded: ${response.status}`);
  }
  return response.body;
}

/** Writes one of a job's lists to a file, if a file is named and the list has rows. */
export async function saveList(
  terminal: Terminal,
  client: Client,
  id: string,
  list: RowListName,
  file: string | undefined,
): Promise<void> {
  const content = file === undefined ? undefined : await readList(client, id, list);
  if (file === undefined || content === undefined) return;
  await pipeline(Readable.fromWeb(content as never), createWriteStream(file));
  terminal.note(`${list} are in ${file}`);
}
