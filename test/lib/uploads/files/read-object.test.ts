import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isUnavailable } from "../../../../lib/aws/error-codes.ts";
import { createUploadObjects } from "../../../../lib/uploads/files/upload-objects.ts";
import { DAMAGED_RESPONSES } from "../../../support/damaged-responses.ts";
import { type Fault, injectFaults } from "../../../support/faults.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const KEY = "uploads/acme/0190/failed/0/1-0";
const KINDS = [...DAMAGED_RESPONSES, "wrong checksum"] as const;
/** A few bytes, which the client checks before it hands them on, and more than it keeps. */
const SIZES = [685, 300_000] as const;

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await createTestRuntime();
});

describe.each(SIZES)("an object of %i bytes, of which a response is damaged", (size) => {
  const body = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
  const ranges = { whole: {}, "from a byte on": { from: 100 }, "a part of it": { from: 100, to: 600 } };

  it.each(Object.entries(ranges).flatMap(([name, range]) => KINDS.map((kind) => [name, kind, range] as const)))(
    "is read as it is, or not at all: %s, %s",
    async (_, kind, range: { readonly from?: number; readonly to?: number }) => {
      const objects = createUploadObjects(runtime);
      await objects.write(KEY, body);
      let attempts = 0;
      const decide = (command: string): Fault => (command === "GetObjectCommand" && attempts++ === 0 ? kind : "none");
      onTestFinished(injectFaults(runtime.s3, decide));
      const read = await objects.readWhole(KEY, range).catch((error: unknown) => error);
      expect(attempts).toBeGreaterThan(0);
      const isWhole = Buffer.isBuffer(read) && read.equals(body.subarray(range.from, range.to));
      expect(isWhole || isUnavailable(read)).toBe(true);
    },
  );
});
