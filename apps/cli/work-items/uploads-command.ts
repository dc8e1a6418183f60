import type { Client, UploadJob } from "work-items-client/client.ts";
import { readUndoRows } from "@work-items/importer/checks/undone-rows.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { withProgress } from "../progress-bar.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { type Command, textOption } from "./command.ts";
import { printJob, printOutcome } from "./import-command.ts";
import { saveList } from "./row-lists.ts";
import { unfinishedLines } from "./trial-lines.ts";

const LISTED_MAX = 50;

export const uploadsCommand: Command = {
  arguments: "[action] [id]",
  summary: "list imports, newest first; show <id> or cancel <id> one",
  options: { "--json": "print jobs as JSON" },
  examples: ["uploads", "uploads show 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e"],
  run: async ({ terminal, client, options, positionals: [action = "list", id] }) => {
    const { uploads } = client();
    if (!["list", "show", "cancel"].includes(action)) {
      throw new UsageError(`unknown action ${action}; use list, show or cancel`);
    }
    if (action === "list") {
      let listed = 0;
      for await (const job of uploads.list({ limit: LISTED_MAX })) {
        printJob(terminal, job, options);
        if (++listed === LISTED_MAX) break;
      }
    } else {
      if (id === undefined) throw new UsageError("the ID of an import is required");
      printJob(terminal, await (action === "show" ? uploads.get(id) : uploads.cancel(id)), options);
    }
  },
};

/** Prints how many rows of an undo have a completion date afterwards but aren't completed. */
async function noteUnfinished(terminal: Terminal, client: Client, job: UploadJob): Promise<void> {
  if (job.undone_rows + job.partly_undone_rows === 0) return;
  try {
    const { unfinishedRows, isWhole } = await readUndoRows(client.uploads.results(job.id));
    const when = `after the undo, ${isWhole ? "" : "at least "}`;
    for (const line of unfinishedLines(unfinishedRows, when)) terminal.note(line);
  } catch (error) {
    terminal.note(`the results were not checked: ${plainReason(error)}`);
  }
}

export const undoCommand: Command = {
  arguments: "<import>",
  summary: "undo an import; what others have changed since stays",
  options: {
    "--dry-run": "show what would happen, save nothing",
    "--wait": "wait until the undo ends",
    "--results <file>": "wait, then write the result of each row, and what stays, to this file",
    "--json": "print the job as JSON",
  },
  examples: [
    "undo 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e --dry-run --wait",
    "undo 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e --results undone.csv",
  ],
  run: async ({ terminal, options, positionals: [id], ...call }) => {
    if (id === undefined) throw new UsageError("the ID of an import is required");
    const client = call.client();
    let job = await client.uploads.undo(id, { dryRun: options["dryRun"] === true });
    const results = textOption(options, "results");
    if (options["wait"] === true || results !== undefined) {
      terminal.note(`Undo ${job.id} started. It continues if you stop this command.`);
      job = await withProgress(terminal, "undo", "rows", (update) =>
        client.uploads.wait(job.id, {
          onProgress: (now) => update(now.succeeded_rows + now.failed_rows, now.total_rows),
        }),
      );
      await saveList(terminal, client, job.id, "results", results);
      if (options["json"] !== true) await noteUnfinished(terminal, client, job);
    }
    printOutcome(terminal, job, options);
  },
};
