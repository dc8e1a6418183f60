import { type Check, Difference, expectEqual, expectStatus, type Run } from "./check.ts";
import { endOfUpload } from "./data-checks.ts";
import { type Json, textOf } from "./http-client.ts";

const POLL_MS = 1000;
/** A change reaches the feed, and a webhook, within seconds. A first deployment's stream may take longer to start. */
const ARRIVES_WITHIN_MS = 120_000;

/** Looks until it sees something. @throws Difference after two minutes */
async function until<T>({ sleep, clock }: Run, what: string, look: () => Promise<T | undefined>): Promise<T> {
  const began = clock();
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (clock() - began > ARRIVES_WITHIN_MS) throw new Difference(`${what} didn't come within two minutes`);
    await sleep(POLL_MS);
  }
}

async function create({ send, prefix }: Run, name: string): Promise<string> {
  const json = { work_item: { external_id: `${prefix}${name}` } };
  return textOf(expectStatus(await send("/v1/work_items", { method: "POST", json }), 201)["data"]?.["id"]);
}

/** Reads the feed after a cursor. @returns the change of an item, if it is there */
async function changeOf({ send }: Run, after: string, id: string): Promise<Json | undefined> {
  const page = expectStatus(await send(`/v1/work_items/changes?limit=1000&after=${after}`), 200);
  return (page["data"] as unknown as readonly Json[]).find((change) => change["id"] === (id as unknown as Json));
}

async function cursorOfNow({ send }: Run): Promise<string> {
  return textOf(expectStatus(await send("/v1/work_items/changes?after=now"), 200)["meta"]?.["page"]?.["next"]);
}

async function feed(run: Run): Promise<string> {
  const cursor = await cursorOfNow(run);
  const began = Date.now();
  const id = await create(run, "feed");
  await until(run, "the change", () => changeOf(run, cursor, id));
  return `a change after ${Math.ceil((Date.now() - began) / 1000)} s`;
}

interface Deliveries {
  readonly deliveries: readonly { readonly type: string; readonly status: number | null }[];
}

async function webhook(run: Run): Promise<string> {
  const { send, receiver } = run;
  if (receiver === undefined) return "skipped: name a receiver, --receiver https://…";
  const json = { webhook: { url: receiver, types: ["work_items.changed"], description: run.prefix } };
  const created = expectStatus(await send("/v1/webhooks", { method: "POST", json }), 201)["data"];
  const path = `/v1/webhooks/${textOf(created?.["id"])}`;
  try {
    const tested = await until(run, "the test message", async () => {
      const response = await send(`${path}/test`, { method: "POST" });
      return response.status === 409 ? undefined : expectStatus(response, 200)["data"];
    });
    const status = Number(tested?.["status"]);
    if (!(status >= 200 && status < 300)) throw new Difference(`the receiver answered ${status || "nothing"}`);
    await create(run, "webhook");
    // The queue has a time of its own, whatever the run's clock is.
    await until({ ...run, clock: Date.now }, "work_items.changed", async () => {
      const { deliveries } = (expectStatus(await send(path), 200)["data"] ?? {}) as unknown as Deliveries;
      return deliveries.find(({ type, status: code }) => type === "work_items.changed" && code !== null && code < 300);
    });
    return "the receiver accepts messages";
  } finally {
    await send(path, { method: "DELETE" });
  }
}

async function undo(run: Run): Promise<string> {
  const { send, prefix } = run;
  const body = new FormData();
  body.set(
    "upload[file]",
    new File([`external_id,status\n${prefix}undo,completed\n`], "undo.csv", { type: "text/csv" }),
  );
  const sent = expectStatus(await send("/v1/work_items/upload", { method: "POST", body }), 202)["data"];
  const imported = await endOfUpload(run, sent);
  expectEqual("the import", [imported?.["status"], imported?.["created_rows"]], ["completed", 1]);
  const path = `/v1/work_items/upload/${textOf(imported?.["id"])}/undo`;
  const undone = await endOfUpload(
    run,
    expectStatus(await send(path, { method: "POST", json: { undo: {} } }), 202)["data"],
  );
  expectEqual("the undo", [undone?.["status"], undone?.["deleted_rows"]], ["completed", 1]);
  const left = expectStatus(await send(`/v1/work_items?external_id=${prefix}undo`), 200)["data"];
  expectEqual("what is left", left, []);
  return "an import is taken back";
}

async function erasure(run: Run): Promise<string> {
  if (run.erase === undefined) return "skipped: name the service's tables, --stage and --region";
  const id = await create(run, "erase");
  const cursor = await cursorOfNow(run);
  await run.erase(`${run.prefix}erase`);
  expectStatus(await run.send(`/v1/work_items/${id}`), 404);
  const change = await until(run, "the erasure in the feed", () => changeOf(run, cursor, id));
  expectEqual("the change", change["erased"], true);
  return "an item is erased, and the feed says so";
}

/** What crosses the service: changes, messages, undos and erasures. They take a minute or two. */
export const flowChecks: readonly Check[] = [
  { name: "change feed", run: feed },
  { name: "webhooks", run: webhook },
  { name: "undo", run: undo },
  { name: "erasure", run: erasure },
];
