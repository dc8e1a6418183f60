import { beforeEach, describe, expect, it } from "vitest";
import { CLAIM_MS } from "../../lib/uploads/job/bucket-store.ts";
import { createDyingUploads, RESULTS } from "../support/uploads/dying-workers.ts";
import { dataOf } from "../support/uploads/upload-service.ts";

let uploads: Awaited<ReturnType<typeof createDyingUploads>>;
beforeEach(async () => {
  uploads = await createDyingUploads();
});

describe("a cancelled job", () => {
  /** Runs a worker that writes rows, and dies before it has counted them. */
  const dieBeforeCounting = async () => {
    const [message] = await uploads.harness.take("chunks");
    expect(await uploads.work("chunks", message!, (command) => command === "PutObjectCommand")).toBe(true);
  };

  it("that is an upload is undone with the rows that it had not counted", async () => {
    const { id } = dataOf(await uploads.post("external_id,type\na,b\nc,d\n"));
    await uploads.split(id);
    await dieBeforeCounting();
    expect(await uploads.find("a")).toBeDefined();
    await uploads.harness.store.requestStop(uploads.jobKey(id), "cancelled");
    expect(await uploads.end(id)).toMatchObject({ status: "cancelled" });
    const undo = await uploads.askForUndo(id);
    uploads.clock.advance(CLAIM_MS);
    expect(await uploads.finish(undo)).toMatchObject({ total_rows: 2, undone_rows: 2 });
    expect(await uploads.find("a")).toBeUndefined();
  });

  it("that is an undo counts what it has undone", async () => {
    const id = await uploads.prepare("");
    const undo = await uploads.askForUndo(id);
    await uploads.split(undo);
    await dieBeforeCounting();
    await uploads.harness.store.requestStop(uploads.jobKey(undo), "cancelled");
    expect(await uploads.end(undo)).toMatchObject({
      status: "cancelled",
      undone_rows: 2,
      partly_undone_rows: 1,
      kept_rows: 1,
    });
    expect((await uploads.resultLines(undo)).join()).toContain(RESULTS.used);
  });
});

it("an undo waits until no worker of its upload can write any more", async () => {
  const { id } = await uploads.run("external_id\na\n");
  const undo = await uploads.askForUndo(id);
  await uploads.split(undo);
  expect(await uploads.harness.take("chunks")).toEqual([]);
  expect(await uploads.get(undo)).toMatchObject({ status: "pending" });
  uploads.clock.advance(CLAIM_MS);
  expect(await uploads.finish(undo)).toMatchObject({ status: "completed", undone_rows: 1 });
});

it("an undo whose message is lost is found by the sweep", async () => {
  const { id } = await uploads.run("external_id\na\n");
  const undo = await uploads.askForUndo(id);
  await uploads.harness.take("split");
  expect(await uploads.end(undo)).toMatchObject({ status: "completed", undone_rows: 1 });
});
