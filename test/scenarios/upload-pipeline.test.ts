import { beforeAll, describe, expect, it } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import type { Organization } from "../../lib/organizations/organization.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { type Caller, createCaller } from "../support/service.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { multipart } from "../support/uploads/multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";

let runtime: TestRuntime;
let organization: Organization;
let call: Caller;
let harness: ReturnType<typeof createUploadHarness>;

beforeAll(async () => {
  runtime = await createTestRuntime();
  const owner = await createTestOrganization(runtime);
  organization = owner.organization;
  call = createCaller(runtime, owner.key);
  harness = createUploadHarness(runtime);
});

const upload = (file: string | Buffer, headers: Record<string, string> = {}) => {
  const request = multipart(file);
  return call("uploadWorkItems", { ...request, headers: { ...request.headers, ...headers } });
};
const poll = async (id: string) => (await call("getWorkItemUpload", { params: { id } })).body.data;
const getItem = async (externalId: string) =>
  (await call("getWorkItem", { params: { id: workItemId(organization.id, externalId) } })).body.data;

/** Uploads a file through the endpoint and runs the workers. @returns the job */
const run = async (file: string | Buffer) => {
  const { id } = (await upload(file)).body.data;
  await harness.split(sqsEvent(splitMessage({ organization: organization.id, id })), lambdaContext(120_000));
  await harness.drain();
  return poll(id);
};

describe("an upload", () => {
  it("returns a pending job, then applies every row and completes with exact counters", async () => {
    const { status, body } = await upload(
      "external_id,agent_email,type,completed_at,custom_attributes,custom_attributes.team\n" +
        'A-1,ada@example.com,ticket,2026-01-31T10:30:00+01:00,"{""n"": 9007199254740993}",blue\n' +
        "A-2,,,,,\n",
    );
    const job = body.data;
    expect({ status, job }).toEqual({
      status: 202,
      job: {
        key_name: "default",
        id: expect.any(String),
        status: "pending",
        dry_run: false,
        file_name: "items.csv",
        size: 178,
        total_rows: 0,
        succeeded_rows: 0,
        failed_rows: 0,
        created_rows: 0,
        deleted_rows: 0,
        updated_rows: 0,
        unchanged_rows: 0,
        restored_rows: 0,
        undone_rows: 0,
        partly_undone_rows: 0,
        kept_rows: 0,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    await harness.split(sqsEvent(splitMessage({ organization: organization.id, id: job.id })), lambdaContext(120_000));
    expect(await poll(job.id)).toMatchObject({
      status: "processing",
      total_rows: 2,
      succeeded_rows: 0,
      failed_rows: 0,
    });
    await harness.drain();
    expect(await poll(job.id)).toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 2, failed_rows: 0 });
    expect(await getItem("A-1")).toMatchObject({
      agent: { email: "ada@example.com" },
      type: "ticket",
      status: "completed",
      completed_at: "2026-01-31T09:30:00.000Z",
      custom_attributes: { team: "blue" },
    });
    expect(await getItem("A-2")).toMatchObject({ type: "work_item", status: "pending", custom_attributes: {} });
  });

  it("merges rows of the same external_id in file order", async () => {
    const rows = Array.from({ length: 500 }, (_, index) => `M-${index % 3},step-${index},`);
    const job = await run(`external_id,type,custom_attributes.last\n${rows.join("\n")}\nM-0,,end\n`);
    expect(job).toMatchObject({ status: "completed", total_rows: 501, succeeded_rows: 501, failed_rows: 0 });
    expect(await getItem("M-0")).toMatchObject({ type: "step-498", custom_attributes: { last: "end" } });
    expect(await getItem("M-1")).toMatchObject({ type: "step-499", custom_attributes: {} });
  });

  it("counts an invalid row as failed and applies the others", async () => {
    const job = await run("external_id,completed_at\nF-1,yesterday\n,2026-01-31\nF-2\nF-3,2026-01-31T09:30:00Z\n");
    expect(job).toMatchObject({ status: "completed", total_rows: 4, succeeded_rows: 1, failed_rows: 3 });
    expect(await getItem("F-3")).toMatchObject({ status: "completed" });
  });

  it("puts the rows of a larger file into eight shards", async () => {
    const rows = Array.from({ length: 12_000 }, (_, index) => `P-${index},${"x".repeat(90)}`);
    const job = await run(`external_id,custom_attributes.text\n${rows.join("\n")}`);
    expect(job).toMatchObject({ status: "completed", total_rows: 12_000, succeeded_rows: 12_000, failed_rows: 0 });
    const { shards } = (await harness.store.read({ organization: organization.id, id: job["id"] }))!;
    expect(shards).toHaveLength(8);
    expect(Math.min(...shards.map(({ succeeded }) => succeeded))).toBeGreaterThan(1300);
  });

  it("waits behind no more than eight chunks of another organization's, however large that is", async () => {
    const rows = Array.from({ length: 55_000 }, (_, index) => `L-${index},${"x".repeat(190)}\n`).join("");
    const large = await harness.upload(organization, `external_id,custom_attributes.text\n${rows}`);
    const { organization: other } = await createTestOrganization(runtime);
    const small = await harness.upload(other, "external_id\nsmall\n");
    for (const job of [large, small]) await harness.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    const { chunks = [], total_rows: total } = (await harness.store.readJob(large))!;
    expect({ shards: chunks.length, total }).toEqual({ shards: 8, total: 55_000 });
    const waiting = (await harness.take("chunks")).map(({ id }) => id);
    expect(waiting.filter((id) => id === large.id)).toHaveLength(8);
    expect(waiting).toContain(small.id);
  });

  it("completes at once where the file holds a header alone", async () => {
    expect(await run("external_id\n")).toMatchObject({ status: "completed", total_rows: 0, succeeded_rows: 0 });
  });

  it("is rejected without the column external_id", async () => {
    const { status, body } = await upload("type\nx\n");
    expect({ status, error: body.error }).toEqual({
      status: 422,
      error: expect.stringContaining("row 1: column external_id is missing"),
    });
  });
});
