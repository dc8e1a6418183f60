import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { ApiError } from "work-items-client/api-error.ts";
import { changePages, changesQuery, type ChangesPage, type FeedOptions } from "work-items-client/changes.ts";
import type { Client } from "work-items-client/client.ts";
import { CommandError, UsageError } from "@work-items/terminal/command-line.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { type Command, type CommandCall, textOption } from "./command.ts";
import { keepingDigits } from "./service-client.ts";

interface PrintOptions extends FeedOptions {
  readonly since?: string | undefined;
  readonly withEvents: boolean;
}

/** The escapes that `JSON.stringify` writes. It escapes surrogates only where half of a pair is missing. */
const ESCAPES = /\\(?:(ud[89a-f]..)|.)/g;

/** JSON with U+FFFD for half a surrogate pair. Many databases reject its escape, and then the whole load. */
function loadableJson(value: object): string {
  return JSON.stringify(value).replaceAll(ESCAPES, (escape, half) => (half === undefined ? escape : "\uFFFD"));
}

/** Prints changes, one JSON object per line. @returns the cursor after them */
async function printChanges(
  terminal: Terminal,
  { http }: Client,
  { withEvents, since, ...options }: PrintOptions,
): Promise<string> {
  const readPage = (after: string | number | undefined) => {
    const query = changesQuery(after, { since, withEvents });
    return keepingDigits<ChangesPage<object>>(
      http.GET("/v1/work_items/changes", { params: { query }, parseAs: "text" }),
    );
  };
  let cursor = "";
  for await (const { data, meta } of changePages(readPage, options)) {
    for (const change of data) terminal.printData(loadableJson(change));
    cursor = meta.page.next;
  }
  return cursor;
}

function readCursor(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CommandError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/**
 * Prints what changed since the cursor in a file, or all work items if there is no file yet. Then it saves the new
 * cursor. After an interruption, the next call prints the same changes again.
 */
export async function exportSince({ terminal, client, options }: CommandCall, file: string): Promise<void> {
  const after = readCursor(file);
  try {
    const cursor = await printChanges(terminal, client(), { after, withEvents: options["events"] === true });
    // Wait until the reader has everything.
    await terminal.writeData("");
    writeFileSync(`${file}.new`, `${cursor}\n`);
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 410) throw error;
    throw new CommandError(
      `changes since the cursor in ${file} are no longer available; empty your copy, delete ${file} and export again`,
    );
  }
}

export const changesCommand: Command = {
  arguments: "",
  summary: "print work items that changed, as they are now, one JSON object per line",
  options: {
    "--after <cursor>": 'continue after a cursor, a sequence or "now" (default: all work items first)',
    "--since <time>": "start with what changed at this time or later, such as 2026-01-31T09:30:00Z",
    "--follow": "wait for further changes until you stop the command",
    "--events": "include the events of each work item",
  },
  examples: ["changes > items.ndjson", "changes --after now", "changes --since 2026-01-26T00:00:00Z"],
  run: async ({ terminal, client, options }) => {
    const after = textOption(options, "after");
    const since = textOption(options, "since");
    if (after !== undefined && since !== undefined) throw new UsageError("--after or --since, not both");
    const cursor = await printChanges(terminal, client(), {
      after,
      since,
      follow: options["follow"] === true,
      withEvents: options["events"] === true,
    });
    terminal.note(`continue with --after ${cursor}`);
  },
};
