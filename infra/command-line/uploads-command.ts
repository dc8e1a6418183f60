import { type Command, EXIT, onlyArgument, print, UsageError } from "./command.ts";
import { describeJob } from "./import-command.ts";
import { type Job, readJob } from "./upload-file.ts";

const UPLOADS = "/v1/work_items/upload";

/** Shows and cancels upload jobs. */
export const uploadsCommand: Command = {
  usage: "uploads [list | show <id> | cancel <id>]",
  summary: "list upload jobs, newest first; show or cancel one",
  options: { json: { type: "boolean" } },
  help: { json: "print jobs as JSON" },
  examples: ["uploads", "uploads show 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e"],
  run: async ({ client, options, positionals: [action = "list", ...rest] }) => {
    const service = client();
    const show = (job: Job): void => print(options["json"] === true ? JSON.stringify(job) : describeJob(job));
    if (action === "list") {
      const { data } = await service.request("GET", UPLOADS);
      for (const job of data as unknown as readonly Job[]) show(job);
    } else if (action === "show") show(await readJob(service, onlyArgument(rest, "id of an upload")));
    else if (action === "cancel") {
      const id = encodeURIComponent(onlyArgument(rest, "id of an upload"));
      show((await service.request("DELETE", `${UPLOADS}/${id}`)).data as unknown as Job);
    } else throw new UsageError(`${action} is none of list, show and cancel`);
    return EXIT.done;
  },
};
