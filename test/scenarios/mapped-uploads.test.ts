import { beforeEach, describe, expect, it } from "vitest";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { createUploadService, dataOf, type UploadService } from "../support/uploads/upload-service.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

const TICKETS = {
  fields: {
    external_id: { column: "Ticket ID" },
    agent_email: { column: "Customer Email" },
    status: { column: "Status", values: { Open: "pending", Closed: "completed" } },
    completed_at: { column: "Closed", format: "dd/MM/yyyy", time_zone: "Europe/Berlin" },
  },
  others: "custom_attributes",
  empty: ["NULL"],
  delimiter: ";",
};
const HEADER = '"Ticket ID";Customer Email;Status;Closed;Subject';

const errorOf = ({ body }: { readonly body: { readonly error?: string } }) => body.error;

describe("an upload with a mapping", () => {
  it("applies another system's file as it is", async () => {
    const file = `\uFEFF${HEADER}\r\nT-1;ada@example.com;closed;01/06/2023;"Broken; ""twice"""\r\nT-2;NULL;Open;NULL;NULL\r\n`;
    const job = await uploads.runMapped(file, TICKETS);
    expect(job).toMatchObject({
      status: "completed",
      file_name: "items.csv",
      size: Buffer.byteLength(file),
      total_rows: 2,
      created_rows: 2,
      mapping: TICKETS,
    });
    expect(await uploads.getItem("T-1")).toMatchObject({
      agent: { email: "ada@example.com" },
      status: "completed",
      completed_at: "2023-05-31T22:00:00.000Z",
      custom_attributes: { Subject: 'Broken; "twice"' },
    });
    expect(await uploads.getItem("T-2")).toMatchObject({
      agent: { email: null },
      status: "pending",
      completed_at: null,
      custom_attributes: {},
    });
  });

  it("keeps rows of the same item in file order, however their id is put together", async () => {
    const rows = Array.from({ length: 6000 }, (_, row) => `${row % 40},${row % 7},${row},${"x".repeat(60)}\n`).join("");
    const mapping = {
      fields: {
        external_id: { columns: ["a", "b"], join: "-" },
        "custom_attributes.row": { column: "row", as: "number" },
      },
      others: "ignore",
    };
    const job = await uploads.runMapped(`a,b,row,text\n${rows}`, mapping);
    expect(job).toMatchObject({ status: "completed", total_rows: 6000, succeeded_rows: 6000, created_rows: 280 });
    for (const last of [5720, 5873, 5999]) {
      const item = await uploads.getItem(`${last % 40}-${last % 7}`);
      expect(item["custom_attributes"]).toEqual({ row: last });
    }
  });

  it("is shown by itself with its mapping, and in lists without", async () => {
    const { id } = dataOf(await uploads.post(`${HEADER}\n`, { mapping: TICKETS }));
    expect((await uploads.get(id))["mapping"]).toEqual(TICKETS);
    expect(dataOf(await uploads.cancel(id))["mapping"]).toEqual(TICKETS);
    const { mapping, ...listed } = await uploads.get(id);
    expect((await uploads.list()).data).toEqual([listed]);
    expect(mapping).toEqual(TICKETS);
  });

  it("takes the mapping of an earlier upload of the organization", async () => {
    const first = dataOf(await uploads.post(`${HEADER}\n`, { mapping: TICKETS }));
    const job = await uploads.runMapped(`${HEADER}\nT-9;;Open;;\n`, { from: first.id.toUpperCase() });
    expect(job).toMatchObject({ status: "completed", succeeded_rows: 1, mapping: TICKETS });
    const plain = dataOf(await uploads.post("external_id\n"));
    const from = async (mapping: object) => {
      const response = await uploads.post(`${HEADER}\n`, { mapping });
      return [response.status, errorOf(response)];
    };
    expect(await from({ from: plain.id })).toEqual([422, "upload.mapping.from: this upload has no mapping"]);
    expect(await from({ from: "0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e" })).toEqual([
      422,
      "upload.mapping.from: there is no upload with this ID",
    ]);
    expect(await from({ from: first.id, others: "ignore" })).toEqual([
      422,
      "upload.mapping.from: can't be combined with other keys",
    ]);
    const other = await createUploadService();
    const foreign = await other.post(`${HEADER}\n`, { mapping: { from: first.id } });
    expect(errorOf(foreign)).toBe("upload.mapping.from: there is no upload with this ID");
  });

  it("fails rows with their own columns, delimiter and quotes, which can be sent again with the same mapping", async () => {
    const job = await uploads.runMapped(
      `${HEADER}\nT-1;nobody;Open;31/02/2023;"a;b"\nT-2;;Waiting;;c\nT-3;;Open;;\n`,
      TICKETS,
    );
    expect(job).toMatchObject({ total_rows: 3, succeeded_rows: 1, failed_rows: 2 });
    const [header, first, second] = await uploads.report(job.id);
    expect(header).toBe(`${HEADER};_row;_error;_error_column;_error_value;_error_code`);
    expect(first).toBe(
      'T-1;nobody;Open;31/02/2023;"a;b";2;"completed_at: ""31/02/2023"" doesn\'t match the format dd/MM/yyyy ' +
        '(column Closed); agent_email: must be an email address (column Customer Email)";Closed;31/02/2023;invalid_format',
    );
    expect(second).toMatch(/^T-2;;Waiting;;c;3;"?status: .*\(column Status\)"?;Status;Waiting;invalid_value$/);
    const mended = `${header}\n${first!.replace("nobody", "ada@example.com").replace("31/02", "28/02")}\n${second}\n`;
    const again = await uploads.runMapped(mended, { from: job.id });
    expect(again).toMatchObject({ total_rows: 2, succeeded_rows: 1, failed_rows: 1 });
    expect(await uploads.getItem("T-1")).toMatchObject({ custom_attributes: { Subject: "a;b" } });
    expect((await uploads.report(again.id))[0]).toBe(header);
  });

  it("makes an event of each row, so that a log of events becomes items with events", async () => {
    const LOG = {
      fields: { external_id: { column: "Nr" }, status: { column: "State", values: { open: "pending" } } },
      event: {
        external_id: { column: "Step" },
        content: { column: "State" },
        occurred_at: { column: "At", format: "unix" },
        actor_name: { column: "By" },
      },
    };
    const file = "Nr,State,Step,At,By\nA,open,1,0,Ada\nB,open,1,60,?\nA,completed,2,120,Ben\nA,completed,2,120,Ben\n";
    const job = await uploads.runMapped(`${file}A,cancelled,,180,Ada\n`, LOG);
    expect(job).toMatchObject({ created_rows: 2, updated_rows: 1, unchanged_rows: 1, failed_rows: 1 });
    const { status, events } = await uploads.getItem("A");
    expect(status).toBe("completed");
    expect(events).toMatchObject([
      { external_id: "1", content: "open", occurred_at: "1970-01-01T00:00:00.000Z", actor: { name: "Ada" } },
      { external_id: "2", content: "completed", occurred_at: "1970-01-01T00:02:00.000Z", actor: { name: "Ben" } },
    ]);
    const again = await uploads.runMapped(file, LOG);
    expect(again).toMatchObject({ updated_rows: 2, unchanged_rows: 2 });
  });

  it("takes a completion as RFC 3339 has it", async () => {
    await uploads.run("external_id,completed_at\nleap,2017-01-01t08:59:60+09:00\n");
    expect(await uploads.getItem("leap")).toMatchObject({ completed_at: "2017-01-01T00:00:00.000Z" });
  });

  it("is rejected with all mistakes before anything is made", async () => {
    const { delimiter: _, ...commas } = TICKETS;
    const fields = { ...TICKETS.fields, type: { column: "Typ", as: "text" } };
    const response = await uploads.post(`${HEADER.replaceAll(";", ",")}\n`, { mapping: { ...commas, fields } });
    expect([response.status, errorOf(response)]).toEqual([
      422,
      "upload.mapping.fields.type.as: is for custom_attributes.<name> only; " +
        'upload.mapping.fields.type.column: there is no column "Typ"; the nearest is "Status"',
    ]);
    const malformed = await uploads.post(`${HEADER}\n`, { mapping: '{"fields":' });
    expect([malformed.status, errorOf(malformed)]).toEqual([
      422,
      expect.stringMatching(/^upload\[mapping\]: must be JSON/),
    ]);
    const shape = await uploads.post(`${HEADER}\n`, { mapping: { fields: [], others: 1 } });
    expect(errorOf(shape)).toMatch(/^upload\.mapping\.fields: .*; upload\.mapping\.others: /);
    expect((await uploads.list()).data).toEqual([]);
  });

  it("of a form is checked at once, and against the header when the file is there", async () => {
    const refused = await uploads.requestForm(10, {}, { mapping: { fields: {}, delimiter: ";" } });
    expect([refused.status, errorOf(refused)]).toEqual([422, "upload.mapping.fields.external_id: is required"]);

    const send = async (file: string) => {
      const { id } = dataOf(await uploads.requestForm(file.length, {}, { mapping: TICKETS }));
      await uploads.harness.objects.write(objectKeys.source(uploads.jobKey(id)), Buffer.from(file));
      return uploads.finish(id);
    };
    expect(await send(`${HEADER}\nT-1;;Open;;\n`)).toMatchObject({
      status: "completed",
      succeeded_rows: 1,
      mapping: TICKETS,
    });
    expect(await send(`${HEADER.replace("Status", "State")}\nT-1;;Open;;\n`)).toMatchObject({
      status: "failed",
      error: 'upload.mapping.fields.status.column: there is no column "Status"; the nearest is "State"',
      total_rows: 0,
    });
  });

  it("has another job for each mapping under the same Idempotency-Key", async () => {
    const send = (mapping?: object) =>
      uploads.post("a\n1\n", { ...(mapping && { mapping }) }, { "Idempotency-Key": "k" });
    const external_id = { column: "A" };
    const type = { value: "x", values: { a: "b", c: "d" } };
    const mapping = { fields: { external_id, type }, empty: ["-", "x"] };
    const first = await send(mapping);
    expect(first.status).toBe(202);
    const reordered = { values: { c: "d", a: "b" }, value: "x" };
    const same = await send({ empty: ["-", "x"], fields: { type: reordered, external_id } });
    expect(dataOf(same).id).toBe(dataOf(first).id);
    expect((await send({ ...mapping, empty: ["x", "-"] })).status).toBe(422);
    expect(dataOf(await send({ from: dataOf(first).id })).id).toBe(dataOf(first).id);
    expect((await send({ ...mapping, others: "ignore" })).status).toBe(422);
  });
});

describe("an upload without a mapping", () => {
  it("takes headers that differ from the names in case and outer spaces only", async () => {
    const { id, ...job } = await uploads.run('"\uFEFFExternal_ID ", TYPE,Custom_Attributes.Team \nA-1,call,x\n');
    expect(job).toMatchObject({ status: "completed", succeeded_rows: 1 });
    expect(await uploads.getItem("A-1")).toMatchObject({ type: "call", custom_attributes: { Team: "x" } });
    const repeated = await uploads.run("external_id,Type, type\nA-1,a,b\n");
    expect(repeated).toMatchObject({ status: "failed", error: expect.stringContaining('repeated column " type"') });
    expect(id).not.toBe(repeated.id);
  });

  it("leaves out and does not count rows whose cells are all empty", async () => {
    const job = await uploads.run('external_id,type\n,\n"",\nA-1,\n,""\n,x\n');
    expect(job).toMatchObject({ total_rows: 2, succeeded_rows: 1, failed_rows: 1 });
    expect((await uploads.report(job.id))[1]).toMatch(/^,x,6,external_id: must not be empty,external_id,,too_small$/);
  });
});
