import type { WorkItemUpload } from "../../../lib/client/client.ts";
import { type Command, EXIT, onlyArgument, print, UsageError } from "./command.ts";
import { describeJob } from "./import-command.ts";

const LISTED_MAX = 50;

export const uploadsCommand: Command = {
  usage: "uploads [list | show <id> | cancel <id>]",
  summary: "list upload jobs, newest first; show or cancel one",
  options: { json: { type: "boolean" } },
  help: { json: "print jobs as JSON" },
  examples: ["uploads", "uploads show 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e"],
  run: async ({ client, options, positionals: [action = "list", ...rest] }) => {
    const { uploads } = client();
    const show = (job: WorkItemUpload): void =>
      print(options["json"] === true ? JSON.stringify(job) : describeJob(job));
    if (action === "list") {
      let listed = 0;
      for await (const job of uploads.list({ limit: LISTED_MAX })) {
        show(job);
        if (++listed === LISTED_MAX) break;
      }
    } else if (action === "show") show(await uploads.get(onlyArgument(rest, "id of an upload")));
    else if (action === "cancel") show(await uploads.cancel(onlyArgument(rest, "id of an upload")));
    else throw new UsageError(`unknown action ${action}; use list, show or cancel`);
    return EXIT.done;
  },
};
