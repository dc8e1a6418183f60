import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { dataOf } from "work-items-client/api-error.ts";
import type { Client } from "work-items-client/client.ts";
import type { RowListName } from "../../../lib/uploads/files/row-list.ts";
import { CommandError } from "../../../infra/command-line.ts";
import type { Terminal } from "../../../infra/terminal.ts";

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
