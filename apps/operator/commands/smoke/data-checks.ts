import { type Check, Difference, expectEqual, expectStatus, type Run } from "./check.ts";
import { type Json, textOf } from "./http-client.ts";

const POLL_MS = 1000;
const JOB_ENDS_WITHIN_MS = 180_000;

async function items({ send, prefix }: Run): Promise<string> {
  const externalId = `${prefix}item`;
  const item = { external_id: externalId, agent_name: "Smoke", custom_attributes: { n: 1 } };
  const created = expectStatus(await send("/v1/work_items", { method: "POST", json: { work_item: item } }), 201)[
    "data"
  ];
  const path = `/v1/work_items/${textOf(created?.["id"])}`;
  expectStatus(await send("/v1/work_items", { method: "POST", json: { work_item: item } }), 409);
  expectEqual("what is read", expectStatus(await send(path), 200)["data"], created);
  const patched = await send(path, { method: "PATCH", json: { work_item: { custom_attributes: { m: 2 } } } });
  expectEqual("merged attributes", expectStatus(patched, 200)["data"]?.["custom_attributes"], { n: 1, m: 2 });
  for (const status of [201, 200]) {
    expectStatus(await send(`${path}/events`, { method: "POST", json: { event: { external_id: "e" } } }), status);
  }
  const found = expectStatus(await send(`/v1/work_items?external_id=${externalId}`), 200);
  expectEqual("the list", [found["data"]?.[0]?.["id"], found["meta"]], [created?.["id"], { page: { limit: 50 } }]);
  expectEqual("deletion", expectStatus(await send(path, { method: "DELETE" }), 200), {
    data: { id: created?.["id"], deleted: true },
  });
  expectStatus(await send(path), 404);
  return "create, 409, read, merge, event, list, delete, 404";
}

async function batches({ send, prefix }: Run): Promise<string> {
  const work = Array.from({ length: 100 }, (_, index) => ({ external_id: `${prefix}batch-${index}` }));
  const apply = async (dryRun: boolean): Promise<Json | undefined> => {
    const response = await send("/v1/work_items/batch", {
      method: "POST",
      json: { work_items: work, dry_run: dryRun },
    });
    return expectStatus(response, 200)["data"]?.["summary"];
  };
  const of = (counts: object) => ({
    total: 100,
    created: 0,
    updated: 0,
    unchanged: 0,
    restored: 0,
    error: 0,
    ...counts,
  });
  expectEqual("dry run", await apply(true), of({ created: 100 }));
  expectEqual("first time", await apply(false), of({ created: 100 }));
  expectEqual("second time", await apply(false), of({ unchanged: 100 }));
  return "100 items: dry run, created, unchanged";
}

function fileOf(prefix: string): File {
  return new File(
    [`external_id,status\n${prefix}row-1,completed\n${prefix}row-2,nonsense\n${prefix}row-3,\n`],
    "smoke.csv",
    {
      type: "text/csv",
    },
  );
}

function isOpen(job: Json | undefined): boolean {
  return ["pending", "processing"].includes(textOf(job?.["status"]));
}

/** Waits for the end of a job. */
export async function endOfUpload({ send, sleep }: Run, first: Json | undefined): Promise<Json | undefined> {
  const path = `/v1/work_items/upload/${textOf(first?.["id"])}`;
  const began = Date.now();
  let job = first;
  while (isOpen(job)) {
    if (Date.now() - began > JOB_ENDS_WITHIN_MS) throw new Difference(`${textOf(job?.["status"])} for three minutes`);
    await sleep(POLL_MS);
    job = expectStatus(await send(path), 200)["data"];
  }
  return job;
}

/** Waits for the end of a job, and checks its counters and the report of its failed row. */
async function expectEnd(run: Run, first: Json | undefined): Promise<string> {
  const began = Date.now();
  const job = await endOfUpload(run, first);
  const { send, prefix } = run;
  const path = `/v1/work_items/upload/${textOf(first?.["id"])}`;
  const { status, total_rows: total, succeeded_rows: succeeded, failed_rows: failed } = job ?? {};
  expectEqual("the job", [status, total, succeeded, failed], ["completed", 3, 2, 1]);
  const { url } = expectStatus(await send(`${path}/failed_rows`), 200)["data"] ?? {};
  const report = await (await fetch(textOf(url))).text();
  if (!report.includes(`${prefix}row-2`)) throw new Difference(`the report of failed rows: ${report.slice(0, 200)}`);
  return `completed in ${Math.ceil((Date.now() - began) / 1000)} s, failed row reported`;
}

async function upload(run: Run): Promise<string> {
  const body = new FormData();
  body.set("upload[file]", fileOf(`${run.prefix}file-`));
  const job = expectStatus(await run.send("/v1/work_items/upload", { method: "POST", body }), 202)["data"];
  return expectEnd({ ...run, prefix: `${run.prefix}file-` }, job);
}

async function form(run: Run): Promise<string> {
  const file = fileOf(`${run.prefix}form-`);
  const json = { upload: { filename: file.name, size: file.size } };
  const asked = expectStatus(await run.send("/v1/work_items/upload", { method: "POST", json }), 202);
  const { url, fields = {} } = asked["meta"]?.["upload"] ?? {};
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, textOf(value));
  body.set("file", file);
  const posted = await fetch(textOf(url), { method: "POST", body });
  if (posted.status !== 204) throw new Difference(`the form: ${posted.status} ${(await posted.text()).slice(0, 200)}`);
  return expectEnd({ ...run, prefix: `${run.prefix}form-` }, asked["data"]);
}

async function conversations({ send }: Run): Promise<string> {
  const body = expectStatus(await send("/v1/conversation_uploads?limit=1"), 200);
  if (!Array.isArray(body["data"])) throw new Difference("no list");
  return "a list";
}

/** What the handlers and the workers do. */
export const dataChecks: readonly Check[] = [
  { name: "work items", run: items },
  { name: "batches", run: batches },
  { name: "upload in the request", run: upload },
  { name: "upload by a form", run: form },
  { name: "conversation uploads", run: conversations },
];
