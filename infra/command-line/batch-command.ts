import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseJson } from "../../lib/json.ts";
import { applyBatch, type BatchItem, batchesOf } from "./batches.ts";
import { type Command, EXIT, note, onlyArgument, print } from "./command.ts";
import { startProgress } from "./progress.ts";
import { CommandError } from "./service-client.ts";

interface Line {
  readonly number: number;
  readonly item: BatchItem;
}

const parseLine = (text: string): BatchItem | undefined => {
  try {
    const item = parseJson(text);
    return typeof item === "object" && item !== null && !Array.isArray(item)
      ? (item as unknown as BatchItem)
      : undefined;
  } catch {
    return undefined;
  }
};

/** The work items of a file, one a line. @param onError called for each line that is none */
async function* itemsIn(path: string, onError: (number: number, error: string) => void): AsyncGenerator<Line> {
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      number++;
      if (text.trim() === "") continue;
      const item = parseLine(number === 1 ? text.replace(/^\uFEFF/, "") : text);
      if (item === undefined) onError(number, "is no JSON object");
      else yield { number, item };
    }
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Applies work items that stand in a file as JSON. */
export const batchCommand: Command = {
  usage: "batch <file.jsonl>",
  summary: "apply work items, one JSON object a line",
  options: { "dry-run": { type: "boolean" }, json: { type: "boolean" } },
  help: { "dry-run": "write nothing, and tell what would be done", json: "print each result as JSON" },
  examples: ["batch items.jsonl", "batch items.jsonl --dry-run --json"],
  run: async ({ client, options, positionals }) => {
    const path = onlyArgument(positionals, "file");
    const isDry = options["dry-run"] === true;
    const isJson = options["json"] === true;
    const counts: Record<string, number> = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
    const count = (number: number, status: string, error: string | null, externalId?: string): void => {
      counts[status] = (counts[status] ?? 0) + 1;
      if (isJson) print(JSON.stringify({ line: number, external_id: externalId, status, error }));
      else if (error !== null) note(`line ${number}: ${error}`);
    };
    const progress = startProgress("batch", "items");
    let done = 0;
    try {
      const lines = itemsIn(path, (number, error) => count(number, "error", error));
      for await (const batch of batchesOf(lines, ({ item }) => item)) {
        const items = batch.map(({ item }) => item);
        const results = await applyBatch(client(), items, isDry);
        for (const [index, { status, error, external_id: id }] of results.entries()) {
          count(batch[index]!.number, status, error, id);
        }
        done += batch.length;
        progress.update(done, done);
      }
    } finally {
      progress.stop();
    }
    const described = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`);
    if (!isJson) print(`${described.join(", ")}${isDry ? " (dry run)" : ""}`);
    return (counts["error"] ?? 0) > 0 ? EXIT.someFailed : EXIT.done;
  },
};
