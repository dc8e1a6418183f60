import { beforeEach, describe, expect, it } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import {
  createUploadService,
  dataOf,
  manyRows,
  MINUTE_MS,
  type UploadService,
} from "../support/uploads/upload-service.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

describe("the report of failed rows", () => {
  const file =
    '\uFEFFexternal_id,_error,completed_at,"type",_row,custom_attributes\r\n' +
    'R-1,old,yesterday,"a ""quoted"" type",9,\r\n' +
    "R-2,,,good,,\r\n" +
    "R-3,,,\r\n" +
    'R-4,,,b,,"{""n"": 1}",extra\r\n' +
    "\r\n" +
    ",,,c,,[1]\r\n" +
    'R-5,,,"two\nlines",,{';

  it("holds the file's own columns as they are, the row's number and what is wrong in which column", async () => {
    const { id, ...job } = await uploads.run(file);
    expect(job).toMatchObject({ status: "completed", total_rows: 6, succeeded_rows: 1, failed_rows: 5 });
    const { url, expires_at, rows } = await uploads.failedRows(id);
    expect({ rows, expires_at }).toEqual({
      rows: 5,
      expires_at: new Date(uploads.clock() + 15 * MINUTE_MS).toISOString(),
    });
    const report = await (await fetch(url!)).text();
    const timeProblem = "completed_at: must be an RFC 3339 date-time with offset, such as 2026-01-31T09:30:00Z";
    expect(report).toBe(
      'external_id,completed_at,"type",custom_attributes,_row,_error,_error_column,_error_value,_error_code\r\n' +
        `R-1,yesterday,"a ""quoted"" type",,2,"${timeProblem}",completed_at,yesterday,invalid_format\r\n` +
        "R-3,,,,4,the row has 4 values but the header has 6,,,invalid\r\n" +
        'R-4,,b,"{""n"": 1}",5,the row has 7 values but the header has 6; put values that contain the delimiter in quotes,,,invalid,extra\r\n' +
        ",,c,[1],7,custom_attributes: must be a JSON object; external_id: must not be empty,custom_attributes,[1],invalid_format\r\n" +
        'R-5,,"two\nlines",{,8,custom_attributes: must be a JSON object,custom_attributes,{,invalid_format\n',
    );
  });

  it("has no address while the job runs, and where no row failed", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, "external_id\nN-1\n");
    expect(await uploads.failedRows(id)).toEqual({ url: null, expires_at: null, rows: 0 });
    await uploads.split(id);
    await uploads.harness.drain();
    expect(await uploads.failedRows(id)).toEqual({ url: null, expires_at: null, rows: 0 });
  });
});

describe("the results of an upload", () => {
  const textOf = async (id: string) => (await fetch((await uploads.results(id)).url!)).text();

  it("name each row, its item and its outcome", async () => {
    const { id } = await uploads.run('external_id,type\nA,call\n"B,""b""\n2",\nA,chat\nA,chat\n,x\nC,d,e\n');
    const idOf = (externalId: string) => workItemId(uploads.organization.id, externalId);
    expect(await textOf(id)).toBe(
      "_row,external_id,id,outcome\n" +
        `2,A,${idOf("A")},created\n3,"B,""b""\n2",${idOf('B,"b"\n2')},created\n` +
        `4,A,${idOf("A")},updated\n5,A,${idOf("A")},unchanged\n6,,,error\n7,C,,error\n`,
    );
    expect(await uploads.results(id)).toMatchObject({ rows: 6 });
  });

  it("are in the file's order although parts are applied at once", async () => {
    const { id } = await uploads.run(manyRows(6000));
    const lines = (await textOf(id)).trimEnd().split("\n").slice(1);
    expect(lines.map((line) => line.split(",").slice(0, 2))).toEqual(
      Array.from({ length: 6000 }, (_, row) => [String(row + 2), `L-${row}`]),
    );
  });
});

describe("the list of uploads", () => {
  it("gives every job once, newest first, on pages of any size", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) {
      uploads.clock.advance(1000);
      ids.unshift((await uploads.harness.upload(uploads.organization, "external_id\nA\n")).id);
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const { data, meta } = await uploads.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
      listed.push(...data.map(({ id }) => id));
      cursor = meta.page.next;
    } while (cursor !== undefined);
    expect(listed).toEqual(ids);
  });

  it("shows counters as the single job does, and filters by status", async () => {
    const done = await uploads.run("external_id,status\nA,\nB,wrong\n");
    const running = await uploads.harness.upload(uploads.organization, "external_id\nC\n");
    await uploads.split(running.id);
    const { data } = await uploads.list({ status: "completed" });
    expect(data).toEqual([await uploads.get(done.id)]);
    expect((await uploads.list({ status: "processing" })).data).toEqual([await uploads.get(running.id)]);
    expect((await uploads.list({ status: "pending" })).data).toEqual([]);
    expect((await uploads.list({ status: "gone" })).status).toBe(422);
  });
});

describe("polling", () => {
  it("says when to ask again, until the job has ended", async () => {
    const made = await uploads.requestForm(100);
    const { id } = dataOf(made);
    const get = async () => (await uploads.call("getWorkItemUpload", { params: { id } })).headers["retry-after"];
    expect([made.headers["retry-after"], await get()]).toEqual(["1", "1"]);
    uploads.clock.advance(MINUTE_MS);
    expect(await get()).toBe("6");
    const cancelled = await uploads.cancel(id);
    expect([cancelled.headers["retry-after"], await get()]).toEqual([undefined, undefined]);
  });
});

describe("a form", () => {
  it("names the job's own key, the exact size and when it expires", async () => {
    const { status, body } = await uploads.requestForm(123);
    const { data, meta } = body;
    expect({ status, job: data.status }).toEqual({ status: 202, job: "pending" });
    expect(meta?.upload.expires_at).toBe(new Date(uploads.clock() + 15 * MINUTE_MS).toISOString());
    expect(meta?.upload.fields["key"]).toBe(objectKeys.source(uploads.jobKey(data.id)));
    const policy = JSON.parse(Buffer.from(meta!.upload.fields["Policy"]!, "base64").toString()) as {
      conditions: unknown[];
    };
    expect(policy.conditions).toContainEqual(["content-length-range", 123, 123]);
    expect(policy.conditions).toContainEqual({ key: objectKeys.source(uploads.jobKey(data.id)) });
  });

  it("is given for a size with an exponent", async () => {
    const body = '{"upload":{"filename":"items.csv","size":1e6}}';
    const response = await uploads.call("uploadWorkItems", { body });
    expect(response.status).toBe(202);
    expect(dataOf(response)).toMatchObject({ size: 1_000_000 });
  });

  it("is rejected without a size, which is required", async () => {
    const { body } = await uploads.call("uploadWorkItems", { body: '{"upload":{"filename":"items.csv"}}' });
    expect(body).toEqual({ error: "upload.size: is required" });
  });

  it.each([0, -1, 1.5, 5 * 1024 ** 3 + 1])("is rejected for a size of %s", async (size) => {
    expect((await uploads.requestForm(size)).status).toBe(422);
  });

  it("whose file never comes fails its job after it has expired and the slowest line has had its time", async () => {
    const { id } = dataOf(await uploads.requestForm(256_000 * 600));
    uploads.clock.advance(20 * MINUTE_MS);
    await uploads.sweep();
    expect(await uploads.get(id)).toMatchObject({ status: "pending" });
    uploads.clock.advance(6 * MINUTE_MS);
    await uploads.sweep();
    expect(await uploads.get(id)).toMatchObject({
      status: "failed",
      error: "the file never arrived; request a new form",
    });
  });
});

describe("an Idempotency-Key", () => {
  it("gives the same job for the same request and rejects another", async () => {
    const first = await uploads.requestForm(10, { "Idempotency-Key": "k" });
    const second = await uploads.requestForm(10, { "Idempotency-Key": "k" });
    expect(dataOf(second).id).toBe(dataOf(first).id);
    expect((await uploads.requestForm(11, { "Idempotency-Key": "k" })).status).toBe(422);
    expect((await uploads.list()).data).toHaveLength(1);
  });
});
