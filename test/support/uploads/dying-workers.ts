import { workItemId } from "../../../lib/identity.ts";
import { CLAIM_MS } from "../../../lib/uploads/job/claim.ts";
import { lambdaContext } from "../lambda-context.ts";
import { sqsEvent } from "./upload-harness.ts";
import { createUploadService, dataOf, MINUTE_MS } from "./upload-service.ts";

/** Whether a request is the last of its worker, which then never hears of it. */
type Dies = (command: string) => boolean;
const survive: Dies = () => false;

const MAPPING = {
  fields: { external_id: { column: "id" }, type: { column: "type" }, agent_name: { column: "agent" } },
  event: { external_id: { column: "event" }, content: { column: "text" } },
};

/** What the undo of the import that `prepare` makes does to each item, as in its results. */
export const RESULTS = {
  a: 'partly,"{""reason"":""changed"",""fields"":{""agent_name"":{""imported"":""Bob"",""now"":""Cid""}}}"',
  b: "undone,",
  made: "deleted,",
  used: 'kept,"{""reason"":""in_use_by_event"",""fields"":{""events.e.content"":{""imported"":""x"",""now"":""mine""}}}"',
};

/** One organization's uploads, whose workers can die. */
export const createDyingUploads = async () => {
  const uploads = await createUploadService();
  let isLast = survive;
  let died = Promise.withResolvers<void>();
  const { dynamodb, s3, sqs } = uploads.runtime;
  for (const client of [dynamodb, s3, sqs as unknown as typeof s3]) {
    (client.middlewareStack as typeof s3.middlewareStack).add(
      (next, { commandName = "" }) =>
        async (request) => {
          if (!isLast(commandName)) return next(request);
          isLast = survive;
          died.resolve();
          return new Promise<never>(() => {});
        },
      { step: "initialize", name: "death" },
    );
  }
  const idOf = (name: string) => workItemId(uploads.organization.id, name);

  /** Runs the worker of a message until it ends or dies. @returns whether it has died */
  const work = async (queue: "split" | "chunks", message: object, dies: Dies): Promise<boolean> => {
    died = Promise.withResolvers();
    isLast = dies;
    const worker = queue === "split" ? uploads.harness.split : uploads.harness.apply;
    const ended = worker(sqsEvent(message), lambdaContext(120_000)).then(() => false);
    const hasDied = await Promise.race([ended, died.promise.then(() => true)]);
    isLast = survive;
    return hasDied;
  };
  return {
    ...uploads,
    idOf,
    work,
    /** Runs the workers of all messages, of which one dies at a request. @returns whether one has died */
    deliver: async (last: number): Promise<boolean> => {
      let requests = 0;
      for (let waiting = 1; waiting > 0;) {
        waiting = 0;
        for (const queue of ["split", "chunks"] as const) {
          const messages = await uploads.harness.take(queue);
          waiting += messages.length;
          for (const message of messages) if (await work(queue, message, () => ++requests === last)) return true;
        }
      }
      return false;
    },
    /** Lets the sweep find what has died, until the job has ended. */
    end: async (id: string) => {
      for (let sweeps = 0; sweeps < 10; sweeps++) {
        const job = await uploads.get(id);
        if (job.status !== "pending" && job.status !== "processing") return job;
        uploads.clock.advance(2 * MINUTE_MS);
        await uploads.sweep();
        await uploads.harness.drain();
      }
      throw new Error("the job does not end");
    },
    /** @returns the id of the undo's job */
    askForUndo: async (id: string) => dataOf(await uploads.call("undoWorkItemUpload", { params: { id } })).id,
    /** Imports some items with events, of which others then change some. @returns the id of the import */
    prepare: async (prefix: string) => {
      const existing = ["a", "b"].map((name) => ({ external_id: `${prefix}${name}`, type: "call" }));
      await uploads.call("applyWorkItemBatch", { body: { work_items: existing } });
      const rows = Object.keys(RESULTS).map((name) => `${prefix}${name},chat,Bob,e,x`);
      const { id } = await uploads.runMapped(`id,type,agent,event,text\n${rows.join("\n")}\n`, MAPPING);
      const work_item = { agent_name: "Cid" };
      await uploads.call("updateWorkItem", { params: { id: idOf(`${prefix}a`) }, body: { work_item } });
      const event = { external_id: "e", content: "mine" };
      await uploads.call("upsertWorkItemEvent", { params: { id: idOf(`${prefix}used`) }, body: { event } });
      uploads.clock.advance(CLAIM_MS);
      return id;
    },
    /** The item with an external_id; undefined if it doesn't exist or is deleted. */
    find: async (name: string) => {
      const { status, body } = await uploads.call("getWorkItem", { params: { id: idOf(name) } });
      return status === 200 ? body.data : undefined;
    },
  };
};
