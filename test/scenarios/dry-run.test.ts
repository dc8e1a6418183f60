import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { parse } from "csv-parse/sync";
import { beforeEach, describe, expect, it } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import { TIME_TO_LIVE } from "../../lib/resources.ts";
import { planKeyOf, planPartitions } from "../../lib/work-items/planned-records.ts";
import { itemKeyOf } from "../../lib/work-items/work-item-record.ts";
import { createUploadService, dataOf, type UploadService } from "../support/uploads/upload-service.ts";

let uploads: UploadService;
beforeEach(async () => {
  uploads = await createUploadService();
});

const LOG = {
  fields: { external_id: { column: "Nr" }, status: { column: "State" } },
  event: { external_id: { column: "Step" }, occurred_at: { column: "At", format: "unix" } },
};
const HEADER = "Nr,State,Step,At";
const errorOf = ({ body }: { readonly body: { readonly error?: string } }) => body.error;
const send = async (file: string, fields: object) => {
  const response = await uploads.post(file, fields);
  if (response.status !== 202) throw new Error(response.text);
  return uploads.finish(dataOf(response).id);
};
/** The cells of results below their header, without the items' ids. */
const resultsOf = async (id: string): Promise<string[][]> => {
  const text = await (await fetch((await uploads.results(id)).url!)).text();
  const [header, ...lines] = parse(text, { bom: true });
  expect(header).toEqual(["_row", "external_id", "id", "outcome", "changes"]);
  return lines.map(([row = "", externalId = "", , ...cells]) => [row, externalId, ...cells]);
};
const outcomesOf = ({
  changed_fields: _changed,
  id: _id,
  created_at: _created,
  updated_at: _updated,
  dry_run: _dryRun,
  ...job
}: object & {
  [name: string]: unknown;
}) => job;

describe("a dry run of a file", () => {
  it("counts and reports what the run then does, and writes nothing", async () => {
    await send(`${HEADER}\nkept,pending,1,60\ngone,pending,1,60\nold,pending,1,60\n`, { mapping: LOG });
    const id = workItemId(uploads.organization.id, "gone");
    await uploads.call("deleteWorkItem", { params: { id } });

    // Rows of the same items stand far apart, so that they are in different windows.
    const rows = Array.from({ length: 900 }, (_, row) => `I-${row % 450},${row < 450 ? "pending" : "completed"},1,60`);
    const file = `${HEADER}\nkept,pending,1,60\ngone,pending,1,60\nold,cancelled,1,60\n${rows.join("\n")}\nI-7,completed,1,60\nold,done,2,\ngone,pending,1,61\n`;
    const tried = await send(file, { mapping: LOG, dry_run: "true" });
    expect(tried).toMatchObject({
      status: "completed",
      dry_run: true,
      created_rows: 450,
      updated_rows: 452,
      unchanged_rows: 2,
      restored_rows: 1,
      failed_rows: 1,
    });
    expect(await uploads.getItem("kept")).toMatchObject({ status: "pending" });
    for (const name of ["I-0", "I-7", "gone"]) expect(await uploads.getItem(name)).toBeUndefined();
    expect(await uploads.getItem("old")).toMatchObject({ status: "pending", events: [{ external_id: "1" }] });

    const done = await send(file, { mapping: { from: tried.id } });
    expect(done["dry_run"]).toBe(false);
    expect(outcomesOf(done)).toEqual(outcomesOf(tried));
    expect(await uploads.report(done.id)).toEqual(await uploads.report(tried.id));
    expect(await uploads.getItem("I-7")).toMatchObject({ status: "completed" });
  });

  it("shows what each row changes after the rows before it, and counts rows by field", async () => {
    await send(
      `external_id,status,agent_name,custom_attributes.a,custom_attributes.b\nA,pending,Ann,1,x\nB,pending,,,\nC,,,,\nD,,,,\n`,
      {},
    );
    for (const name of ["C", "D"]) {
      await uploads.call("deleteWorkItem", { params: { id: workItemId(uploads.organization.id, name) } });
    }
    const mapping = {
      fields: {
        external_id: { column: "id" },
        status: { column: "status" },
        agent_name: { column: "who", blank: "clear" },
        "custom_attributes.a": { column: "a", blank: "clear" },
        "custom_attributes.c": { column: "c", as: "json" },
      },
      event: { external_id: { column: "step" }, content: { column: "text" } },
    };
    const rows = [
      "A,completed,Ann,1,,s,",
      "A,completed,,,null,s,",
      "A,completed,,,null,s,said",
      "A,pending,Ann,1,1.0,s,",
      "A,cancelled,Ann,1,1.0,s,",
      "B,wrong,,,,s,",
      "B,pending,,,,s,",
      "C,,Bea,,,s,",
      "D,,,,,s,",
      "new,completed,,,,s,",
      "new,cancelled,,,,s,",
    ];
    const job = await send(`id,status,who,a,c,step,text\n${rows.join("\n")}\n`, { mapping, dry_run: "true" });
    expect(await resultsOf(job.id)).toEqual([
      ["2", "A", "updated", '{"status":{"from":"pending","to":"completed"}}'],
      [
        "3",
        "A",
        "updated",
        '{"agent_name":{"from":"Ann","to":null},"custom_attributes.a":{"from":"1","to":null},"custom_attributes.c":{"from":null,"to":null}}',
      ],
      ["4", "A", "updated", ""],
      [
        "5",
        "A",
        "updated",
        '{"agent_name":{"from":null,"to":"Ann"},"status":{"from":"completed","to":"pending"},"custom_attributes.c":{"from":null,"to":1.0},"custom_attributes.a":{"from":null,"to":"1"}}',
      ],
      ["6", "A", "updated", '{"status":{"from":"pending","to":"cancelled"}}'],
      ["7", "B", "error", ""],
      ["8", "B", "updated", ""],
      ["9", "C", "restored", '{"agent_name":{"from":null,"to":"Bea"}}'],
      ["10", "D", "restored", ""],
      ["11", "new", "created", ""],
      ["12", "new", "updated", '{"status":{"from":"completed","to":"cancelled"}}'],
    ]);
    expect(job["changed_fields"]).toEqual({ agent_name: 3, status: 4, custom_attributes: 2 });
    // Lists hold what items were. S3 deletes those of trials after a day.
    expect((await uploads.results(job.id)).url).toMatch(/\/uploads\/\.trials\//);
    uploads.clock.advance(86_400_000 + 60_000);
    expect(await uploads.results(job.id)).toMatchObject({ url: null, rows: 11 });
    const done = await send(`id,status,who,a,c,step,text\n${rows.join("\n")}\n`, { mapping });
    expect([outcomesOf(done), done["changed_fields"]]).toEqual([outcomesOf(job), undefined]);
  });

  it("shows only the status's values where values are long, and the attributes together where names are", async () => {
    const names = (count: number) => Array.from({ length: count }, (_, number) => `custom_attributes.${number}-ä`);
    const nulls = (count: number) => Object.fromEntries(names(count).map((name) => [name, null]));
    const columns = ["external_id", "status", ...names(40)];
    const row = (name: string, filled: number, status = "pending", text = "1") =>
      [name, status, ...names(40).map((_, number) => (number < filled ? text : ""))].join(",");
    await send(`external_id,status\nvalues,\nlong,\nnames,\nreopened,completed\ntogether,completed\n`, {});
    const text = "ä".repeat(76);
    const file = [
      columns.join(","),
      row("values", 1, "pending", text),
      row("long", 1, "pending", `${text}ä`),
      row("names", 33),
      row("reopened", 31),
      row("together", 32),
    ];
    const job = await send(`${file.join("\n")}\n`, { dry_run: "true" });
    const cells = (await resultsOf(job.id)).map(([, , , changes = ""]) => changes);
    const status = { from: "completed", to: "pending" };
    expect(cells).toEqual([
      JSON.stringify({ "custom_attributes.0-ä": { from: null, to: text } }),
      '{"custom_attributes.0-ä":null}',
      JSON.stringify(nulls(33)),
      JSON.stringify({ status, ...nulls(31) }),
      JSON.stringify({ status, custom_attributes: null }),
    ]);
    expect(cells.map((cell) => Buffer.byteLength(cell))).toEqual([200, 31, 1014, 997, 71]);
    expect(job["changed_fields"]).toEqual({ status: 2, custom_attributes: 5 });
  });

  it("keeps what it plans beside the items, for a day", async () => {
    const { id } = await send("external_id,type\nA-1,a\nA-1,b\n", { dry_run: "true" });
    const plan = planKeyOf(uploads.organization.id, id, itemKeyOf(uploads.organization.id, "A-1"));
    expect(planPartitions(uploads.organization.id, id)).toContain(plan.pk);
    const { Items = [] } = await uploads.runtime.dynamodb.send(
      new QueryCommand({
        TableName: uploads.runtime.environment.WORK_ITEMS_TABLE,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": plan.pk },
      }),
    );
    expect(Items).toMatchObject([
      { sk: plan.sk, type: "b", [TIME_TO_LIVE]: Math.ceil(uploads.clock() / 1000) + 86_400 },
    ]);
    expect(await uploads.getItem("A-1")).toBeUndefined();
  });

  it("is asked for with a form too", async () => {
    const { id } = dataOf(await uploads.requestForm(20, {}, { dry_run: true }));
    expect(await uploads.get(id)).toMatchObject({ dry_run: true });
    expect((await uploads.list()).data).toMatchObject([{ id, dry_run: true }]);
    const plain = dataOf(await uploads.post("external_id\nA-1\n", { dry_run: "false" }));
    expect(plain["dry_run"]).toBe(false);
    // As Python writes it.
    expect(dataOf(await uploads.post("external_id\nA-1\n", { dry_run: "True" }))["dry_run"]).toBe(true);
    const form = await uploads.requestForm(20, {}, { dry_run: "true" });
    expect([form.status, errorOf(form)]).toEqual([422, "upload.dry_run: must be true or false"]);
    const field = await uploads.post("external_id\nA-1\n", { dry_run: "yes" });
    expect([field.status, errorOf(field)]).toEqual([422, "upload.dry_run: must be true or false"]);
  });

  it("is another upload than the run under the same Idempotency-Key", async () => {
    const post = (fields: object) => uploads.post("external_id\nA-1\n", fields, { "Idempotency-Key": "k" });
    const tried = dataOf(await post({ dry_run: "true" }));
    expect(dataOf(await post({ dry_run: "true" })).id).toBe(tried.id);
    expect((await post({})).status).toBe(422);
    expect((await post({ dry_run: "true", mapping: { fields: { external_id: { value: "A" } } } })).status).toBe(422);
  });
});
