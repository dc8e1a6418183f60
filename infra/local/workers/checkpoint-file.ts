import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import type { Checkpoints } from "./stream.ts";

const PRIVATE_FILE = 0o600;
const contentSchema = z.record(z.string(), z.string());

function read(file: string): Record<string, string> {
  try {
    return contentSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Without it a stream is handled from its beginning, which is harmless.
    return {};
  }
}

/** Keeps the checkpoints of a stream's shards in a file, so that the next start continues where this one stopped. */
export function openCheckpoints(file: string): Checkpoints {
  const places = read(file);
  return {
    get: (shard) => places[shard],
    set: (shard, sequenceNumber) => {
      places[shard] = sequenceNumber;
      writeFileSync(`${file}.new`, JSON.stringify(places), { mode: PRIVATE_FILE });
      renameSync(`${file}.new`, file);
    },
  };
}
