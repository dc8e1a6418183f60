import * as z from "zod";
import { packIds, unpackIds } from "./segment.ts";

/** Changes of one organization on their way to its log. */
export interface ChangeMessage {
  readonly organization: string;
  /** Ids of the work items that were written, each once. */
  readonly ids: readonly string[];
  /** Ids of the upload jobs that were written, each once. */
  readonly jobs: readonly string[];
  /** When the first of them was written, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

const messageSchema = z.object({
  organization: z.string().min(1),
  /** Packed as in a segment. */
  ids: z.base64(),
  jobs: z.base64().default(""),
  written_at: z.int(),
});

/** The body of a message. */
export function bodyOf({ organization, ids, jobs, writtenAt }: ChangeMessage): string {
  return JSON.stringify({ organization, ids: packIds(ids), jobs: packIds(jobs), written_at: writtenAt });
}

/** Reads the body of a message. @returns undefined if it can't be read */
export function messageIn(body: string): ChangeMessage | undefined {
  try {
    const { organization, ids, jobs, written_at: writtenAt } = messageSchema.parse(JSON.parse(body));
    return { organization, ids: unpackIds(ids), jobs: unpackIds(jobs), writtenAt };
  } catch {
    return undefined;
  }
}
