import { expect, it } from "vitest";
import { sumOf } from "../../../lib/uploads/job/counters.ts";
import { CLAIM_MS } from "../../../lib/uploads/job/claim.ts";
import { createUploadService, MINUTE_MS } from "../../support/uploads/upload-service.ts";

const HOUR_MS = 60 * MINUTE_MS;

it("a worker an hour ahead takes a live claim, and the first worker can count nothing more", async () => {
  const uploads = await createUploadService();
  const { store } = uploads.harness;
  const id = await uploads.begin("external_id\nA\nB\n");
  const { job, shards } = (await store.read(uploads.jobKey(id)))!;
  const first = (await store.shards.claim(job, shards[0]!))!;
  uploads.clock.advance(HOUR_MS);
  await uploads.harness.drain();
  uploads.clock.advance(-HOUR_MS);
  const progress = { ...sumOf([first]), succeeded: 9, next: 1, after: 0, rows_before: 9, counted: "1" };
  expect(await store.shards.save(job, first, progress)).toBeUndefined();
  expect(await store.shards.saveAndGoOn(job, first, progress)).toBeUndefined();
  expect(await store.shards.renew(job, first)).toBeUndefined();
  expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 2, created_rows: 2 });
});

it.each([-HOUR_MS, HOUR_MS])("a sweep whose clock is off by %i ms loses no job", async (off) => {
  const uploads = await createUploadService();
  const { id } = await uploads.harness.upload(uploads.organization, "external_id\nA\nB\n");
  uploads.clock.advance(off);
  await uploads.sweep();
  uploads.clock.advance(-off);
  await uploads.harness.take("split");
  for (let minute = 0; minute <= 63; minute += 3) {
    uploads.clock.advance(3 * MINUTE_MS);
    await uploads.sweep();
  }
  await uploads.harness.drain();
  uploads.clock.advance(CLAIM_MS);
  expect(await uploads.get(id)).toMatchObject({ status: "completed", succeeded_rows: 2 });
});
