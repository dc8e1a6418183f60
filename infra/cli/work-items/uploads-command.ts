import type { WorkItemUpload } from "work-items-client/client.ts";
import { type Command, EXIT, UsageError } from "./command.ts";
import { describeJob } from "./import-command.ts";

const LISTED_MAX = 50;

export const uploadsCommand: Command = {
  arguments: "[action] [id]",
  summary: "list upload jobs, newest first; show <id> or cancel <id> one",
  options: { "--json": "print jobs as JSON" },
  examples: ["uploads", "uploads show 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e"],
  run: async ({ terminal, client, options, positionals: [action = "list", id] }) => {
    const { uploads } = client();
    const show = (job: WorkItemUpload): void =>
      options["json"] === true ? terminal.printData(JSON.stringify(job)) : terminal.print(describeJob(job));
    if (!["list", "show", "cancel"].includes(action)) {
      throw new UsageError(`unknown action ${action}; use list, show or cancel`);
    }
    if (action === "list") {
      let listed = 0;
      for await (const job of uploads.list({ limit: LISTED_MAX })) {
        show(job);
        if (++listed === LISTED_MAX) break;
      }
    } else {
      if (id === undefined) throw new UsageError("the ID of one upload is required");
      show(await (action === "show" ? uploads.get(id) : uploads.cancel(id)));
    }
    return EXIT.done;
  },
};
