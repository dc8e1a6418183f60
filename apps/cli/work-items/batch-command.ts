import { createReadStream } from "node:fs";
import type { WorkItemInput } from "work-items-client/client.ts";
import { isJsonObject, parseJson } from "@work-items/lib/json.ts";
import { type Command, EXIT } from "./command.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import { jsonLines } from "../json-lines.ts";
import { withProgress } from "../progress-bar.ts";

/** The object in a line, with all digits of its numbers; undefined if it isn't one. The service validates it. */
function parseLine(text: string): WorkItemInput | undefined {
  try {
    const item = parseJson(text);
    return isJsonObject(item) ? ({ ...item } as Record<string, unknown> & WorkItemInput) : undefined;
  } catch {
    return undefined;
  }
}

/** The work items of a file, one per line. `onItem` and `onError` get the line's number. */
async function* itemsIn(
  path: string,
  onItem: (number: number) => void,
  onError: (number: number, error: string) => void,
): AsyncGenerator<WorkItemInput> {
  let number = 0;
  try {
    for await (const text of jsonLines(createReadStream(path))) {
      number++;
      if (text === undefined) {
        onError(number, "isn't valid UTF-8");
        continue;
      }
      if (text.trim() === "") continue;
      const item = parseLine(text);
      if (item === undefined || "work_items" in item)
        onError(number, "not an item: write one JSON object on each line");
      else {
        onItem(number);
        yield item;
      }
    }
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${plainReason(error)}`);
  }
}

export const batchCommand: Command = {
  arguments: "<file.jsonl>",
  summary: "apply work items, one JSON object per line",
  options: { "--dry-run": "show what would change without saving anything", "--json": "print each result as JSON" },
  examples: ["batch items.jsonl", "batch items.jsonl --dry-run --json"],
  run: async ({ terminal, client, options, positionals: [path = ""] }) => {
    const isDry = options["dryRun"] === true;
    const isJson = options["json"] === true;
    const counts: Record<string, number> = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
    const count = (number: number, status: string, error: string | null, externalId?: string): void => {
      counts[status] = (counts[status] ?? 0) + 1;
      if (isJson) terminal.printData(JSON.stringify({ line: number, external_id: externalId, status, error }));
      else if (error !== null) terminal.note(`line ${number}: ${error}`);
    };
    // The lines of sent items, whose results come in the same order.
    const lines: number[] = [];
    const items = itemsIn(
      path,
      (number) => lines.push(number),
      (number, error) => count(number, "error", error),
    );
    await withProgress(terminal, "batch", "items", async (update) => {
      let done = 0;
      for await (const result of client().workItems.apply(items, { dryRun: isDry, onInvalid: "skip" })) {
        count(lines.shift() ?? 0, result.status, result.error, result.external_id);
        update(++done, done);
      }
    });
    const described = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`);
    if (!isJson) terminal.print(`${described.join(", ")}${isDry ? " (dry run)" : ""}`);
    if ((counts["error"] ?? 0) > 0) terminal.exitCode = EXIT.someFailed;
  },
};
