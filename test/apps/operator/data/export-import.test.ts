import { beforeEach, describe, expect, it } from "vitest";
import { exportOrganization } from "../../../../apps/operator/data/export-organization.ts";
import { type Imported, importOrganization } from "../../../../apps/operator/data/import-organization.ts";
import { workItemId } from "../../../../lib/identity.ts";
import { eraseOrganization } from "../../../../apps/operator/data/erase-organization.ts";
import { changeOrganization } from "../../../../apps/operator/data/administration.ts";
import { createTestClock } from "../../../support/clock.ts";
import { createCustomer, type Customer, fill, operatorOf, tracesOf } from "../../../support/customer-data.ts";
import { injectFaults } from "../../../support/faults.ts";
import { lambdaContext } from "../../../support/lambda-context.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../../support/uploads/upload-harness.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const clock = createTestClock();
let runtime: TestRuntime;
let acme: Customer;
beforeEach(async () => {
  runtime = await createTestRuntime({ clock });
  acme = await createCustomer(runtime, "acme");
  await fill(runtime, acme);
  await acme.send("applyWorkItemBatch", {
    body: `{"work_items":[{"external_id":"digits","custom_attributes":{"n":9007199254740993.10,"constructor":1,"deep":[[{}]]},
      "events":[{"external_id":"1","occurred_at":"2026-01-01T00:00:00Z","content":"line\\nbreak"},{"external_id":"2"}]}]}`,
  });
});

const exported = async (from: TestRuntime, organization: string): Promise<string[]> => {
  let text = "";
  await exportOrganization(from, organization, async (lines) => void (text += lines));
  return text.trimEnd().split("\n");
};
/** Applies more items than are read at the same time. */
const applyMore = () =>
  acme.apply(
    ...Array.from({ length: 100 }, (_, index) => ({ external_id: `more ${index}`, events: [{ external_id: "e" }] })),
  );
async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
const imported = async (
  to: TestRuntime,
  organization: string,
  lines: readonly string[],
  options = {},
): Promise<Imported | undefined> =>
  (await Array.fromAsync(importOrganization(to, organization, each(lines), options))).at(-1);
const show = async (customer: Customer) => {
  const { organization, send } = customer;
  const texts = ["kept", "digits", "of another", "deleted"].map(
    async (externalId) => (await send("getWorkItem", { params: { id: workItemId(organization.id, externalId) } })).text,
  );
  const lists = [send("listWorkItems"), send("listConversationUploads")].map(async (list) => (await list).text);
  return Promise.all([...texts, ...lists]);
};

describe("an export", () => {
  it("has a line for each thing, items before their events, and ends with their numbers", async () => {
    const lines = (await exported(runtime, "acme")).map((line) => JSON.parse(line) as Record<string, object>);
    expect(lines[0]).toMatchObject({ organization: { id: "acme", format: 1 } });
    expect(lines.at(-1)).toEqual({ end: { work_items: 4, events: 3, conversation_uploads: 1 } });
    const names = lines.map((line) => JSON.stringify(line["work_item"] ?? line["event"] ?? {}));
    const item = names.findIndex((text) => text.includes('"external_id":"digits"'));
    expect(names[item + 1]).toContain('"work_item_external_id":"digits"');
  });

  it("waits and asks again where DynamoDB throttles", async () => {
    let refused = 0;
    // More often than the SDK repeats a request.
    const remove = injectFaults(runtime.dynamodb, (command) =>
      command === "QueryCommand" && refused++ < 8 ? "throttled" : "none",
    );
    expect(await exported(runtime, "acme")).toHaveLength(10);
    remove();
    expect(refused).toBeGreaterThan(8);
  });

  it("is imported elsewhere under the same id: every response is the same, byte for byte", async () => {
    const before = await show(acme);
    const elsewhere = await createTestRuntime();
    const copy = await createCustomer(elsewhere, "acme");
    expect(await imported(elsewhere, "acme", await exported(runtime, "acme"))).toMatchObject({ written: 8 });
    expect(await show(copy)).toEqual(before);
    expect(before[1]).toContain("9007199254740993.10");
    expect((await copy.apply({ external_id: "deleted" })).body).toMatchObject({ data: { summary: { restored: 1 } } });
  });

  it("is imported into another organization, whose ids are its own", async () => {
    const copy = await createCustomer(runtime, "copy");
    await imported(runtime, "copy", await exported(runtime, "acme"));
    const { body } = await copy.send("getWorkItem", { params: { id: workItemId("copy", "digits") } });
    expect(body).toMatchObject({
      data: { external_id: "digits", events: [{ external_id: "1" }, { external_id: "2" }] },
    });
  });

  it("changes nothing when it is imported again, also with more shards", async () => {
    const lines = await exported(runtime, "acme");
    await changeOrganization(runtime, "acme", { listing_write_shards: 5, listing_shards: 5 });
    expect(await imported(runtime, "acme", lines)).toEqual({ lines: 10, written: 0, existing: 8 });
  });

  it.each([
    ["a changed item", { external_id: "kept", type: "changed" }],
    ["a changed event", { external_id: "digits", events: [{ external_id: "2", content: "changed" }] }],
    ["a restored item", { external_id: "deleted" }],
  ])("is refused over %s, unless that is to be replaced or kept", async (_, change) => {
    const lines = await exported(runtime, "acme");
    const before = await show(acme);
    await acme.apply(change);
    const after = await show(acme);
    expect(after).not.toEqual(before);
    const differing = { lines: 10, written: 0, existing: 7, differing: 1 };
    expect(await imported(runtime, "acme", lines, { dryRun: true })).toEqual(differing);
    await expect(imported(runtime, "acme", lines)).rejects.toThrow(
      /^line \d+: the record exists .* --replace .* --keep /,
    );
    await imported(runtime, "acme", lines, { existing: "replace", dryRun: true });
    const kept = { lines: 10, written: 0, existing: 8 };
    expect(await imported(runtime, "acme", lines, { existing: "keep" })).toEqual(kept);
    expect(await show(acme)).toEqual(after);
    await imported(runtime, "acme", lines, { existing: "replace" });
    expect((await show(acme)).slice(0, 4)).toEqual(before.slice(0, 4));
  });

  it("keeps an item from an undo once it has imported an event of it, as the API does", async () => {
    const uploads = createUploadHarness(runtime);
    const made = await uploads.upload(acme.organization, "external_id\nmade\n");
    await uploads.split(sqsEvent(splitMessage(made)), lambdaContext(60_000));
    await uploads.drain();
    const [first, ...lines] = await exported(runtime, "acme");
    const line = lines.find((text) => text.startsWith('{"event"'))!;
    const { event } = JSON.parse(line) as { readonly event: object };
    const own = JSON.stringify({ event: { ...event, work_item_external_id: "made" } });
    const end = JSON.stringify({ end: { work_items: 0, events: 1, conversation_uploads: 0 } });
    expect(await imported(runtime, "acme", [first!, own, end])).toMatchObject({ written: 1 });
    clock.advance(60_000);
    const { id } = (await acme.send("undoWorkItemUpload", { params: { id: made.id } })).body.data;
    await uploads.drain();
    const undo = (await acme.send("getWorkItemUpload", { params: { id } })).body.data;
    expect(undo).toMatchObject({ status: "completed", kept_rows: 1, deleted_rows: 0 });
  });

  it("stops at the first record that differs, and can be repeated", async () => {
    await applyMore();
    const lines = await exported(runtime, "acme");
    const elsewhere = await createTestRuntime();
    const copy = await createCustomer(elsewhere, "acme");
    await copy.apply({ external_id: "more 99", type: "other" });
    await expect(imported(elsewhere, "acme", lines)).rejects.toThrow("exists with other content");
    const last = await imported(elsewhere, "acme", lines, { existing: "keep" });
    expect(last).toMatchObject({ existing: expect.any(Number), lines: lines.length });
    expect(last!.written + last!.existing).toBe(lines.length - 2);
    expect(await imported(elsewhere, "acme", lines, { dryRun: true })).toMatchObject({ written: 0, differing: 1 });
  });

  it("has no last line if the organization is erased, or made again, while it is read", async () => {
    const operator = operatorOf(runtime);
    for (const change of [
      async () => {
        await eraseOrganization(operator, "acme", { sleep: async (milliseconds) => clock.advance(milliseconds) });
        await createCustomer(runtime, "acme");
      },
      () => changeOrganization(runtime, "acme", { erasing_since: "2026-01-01T00:00:00.000Z" }),
    ]) {
      let text = "";
      let isChanged = false;
      const write = async (lines: string): Promise<void> => {
        text += lines;
        if (!isChanged) await change();
        isChanged = true;
      };
      await expect(exportOrganization(runtime, "acme", write)).rejects.toThrow(/erased/);
      expect(text).toContain('"organization"');
      expect(text).not.toContain('"end"');
    }
  });

  it("beside writers has each item once, as it was before or after a change, and none is missing", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `steady ${index}`);
    const apply = (type: string, ids: readonly string[]) =>
      acme.apply(...ids.map((external_id) => ({ external_id, type, events: [{ external_id: "e", content: type }] })));
    await apply("v0", names);
    let round = 0;
    const lines: string[] = [];
    await exportOrganization(runtime, "acme", async (chunk) => {
      lines.push(...chunk.split("\n").filter((line) => line !== ""));
      // Between two pages items are changed, deleted, restored and created.
      round += 1;
      await apply(`v${round}`, names);
      await apply(`v${round}`, [`created ${round}`]);
      const id = workItemId("acme", names[round % names.length]!);
      await acme.send("deleteWorkItem", { params: { id } });
    });
    expect(round).toBeGreaterThan(8);
    const parsed = lines.map((line) => JSON.parse(line) as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    const of = (kind: string) => parsed.map((line) => line[kind]).filter((found) => found !== undefined);
    const items = of("work_item");
    const events = of("event");
    const steady = items.filter(({ external_id: id }) => names.includes(String(id)));
    expect(steady.map(({ external_id: id }) => String(id)).toSorted()).toEqual(names.toSorted());
    const ofSteady = events.filter(({ work_item_external_id: id }) => names.includes(String(id)));
    expect(ofSteady.map(({ work_item_external_id: id }) => String(id)).toSorted()).toEqual(names.toSorted());
    const versions = Array.from({ length: round + 1 }, (_, index) => `v${index}`);
    for (const { type } of steady) expect(versions).toContain(type);
    for (const { content } of ofSteady) expect(versions).toContain(content);
    expect(parsed.at(-1)).toEqual({
      end: { work_items: items.length, events: events.length, conversation_uploads: 1 },
    });
  });

  it("that is interrupted after any chunk is not taken for complete", async () => {
    await createCustomer(runtime, "copy");
    await applyMore();
    const interrupted = new Error("interrupted");
    let chunks = Infinity;
    for (let last = 1; last < chunks; last++) {
      let text = "";
      let written = 0;
      const exporting = exportOrganization(runtime, "acme", async (lines) => {
        if (written++ === last) throw interrupted;
        text += lines;
      });
      const result = await exporting.catch((error: unknown) => error);
      if (result !== interrupted) {
        chunks = last;
        break;
      }
      await expect(imported(runtime, "copy", text.trimEnd().split("\n"))).rejects.toThrow("the export is cut off");
    }
    // The first line, 25 items at a time of each shard, the deleted one, the conversation upload, and the last line.
    expect(chunks).toBe(9);
  });

  it("is not imported any further once the organization is being erased", async () => {
    const lines = await exported(runtime, "acme");
    await createCustomer(runtime, "copy");
    const slowly = async function* () {
      yield* lines.slice(0, -1);
      await eraseOrganization(operatorOf(runtime), "copy", {
        sleep: async (milliseconds) => clock.advance(milliseconds),
      });
      yield* lines.slice(-1);
    };
    await expect(Array.fromAsync(importOrganization(runtime, "copy", slowly()))).rejects.toThrow(
      "no organization copy",
    );
    expect(await tracesOf(runtime, "copy")).toEqual([]);
  });

  it.each([
    ["is cut off", (lines: string[]) => lines.slice(0, -1), "the export is cut off"],
    ["lacks lines", (lines: string[]) => lines.toSpliced(2, 1), "lines are missing"],
    ["isn't an export", (lines: string[]) => lines.slice(1), "the file isn't an export"],
    ["continues after its end", (lines: string[]) => [...lines, ...lines], "line 11: the file continues after the end"],
    ["has a line that isn't JSON", (lines: string[]) => lines.with(3, "{"), "line 4: line: isn't valid JSON"],
    ["has a line of another kind", (lines: string[]) => lines.with(3, '{"secret":{}}'), "line 4:"],
  ])("that %s is rejected", async (_, change, message) => {
    await createCustomer(runtime, "copy");
    await expect(imported(runtime, "copy", change(await exported(runtime, "acme")))).rejects.toThrow(message);
  });
});
