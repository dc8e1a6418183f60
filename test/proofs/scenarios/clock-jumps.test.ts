import { expect, it } from "vitest";
import { CLAIM_MS } from "../../../lib/uploads/job/claim.ts";
import { createUploadService, MINUTE_MS } from "../../support/uploads/upload-service.ts";

const HOUR_MS = 60 * MINUTE_MS;

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
