import type { Client } from "work-items-client/client.ts";
import { accepted } from "work-items-client/api-error.ts";
import { CommandError } from "../../command-line.ts";

/** The lists of rows that a job has. */
export type RowList = "failed_rows" | "results";

/** The CSV text of one of a job's lists; undefined if it has no rows. */
export async function readList(
  { http }: Client,
  id: string,
  list: RowList,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { body } = await accepted(http.GET(`/v1/work_items/upload/{id}/${list}`, { params: { path: { id } } }));
  const { url } = body.data;
  if (url === null) return undefined;
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new CommandError(`${list} cannot be downloaded: ${response.status}`);
  }
  return response.body;
}
