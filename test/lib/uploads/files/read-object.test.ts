import type { GetObjectCommandInput, GetObjectCommandOutput } from "@aws-sdk/client-s3";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { createUploadObjects } from "../../../../lib/uploads/files/upload-objects.ts";
import { aroundRequests } from "../../../support/faults.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

const KEY = "uploads/acme/0190/failed/0/1-0";
const BODY = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

it.each(Object.entries({ whole: {}, "from a byte on": { from: 100 }, "a part of it": { from: 100, to: 600 } }))(
  "an object is read to its end by a connection that breaks and another that goes on there: %s",
  async (_, range: { readonly from?: number; readonly to?: number }) => {
    const runtime = await createTestRuntime();
    const objects = createUploadObjects(runtime);
    await objects.write(KEY, BODY);
    const expected = BODY.subarray(range.from, range.to);
    const ranges: (string | undefined)[] = [];
    const end = aroundRequests(runtime.s3, async (_command, { Range }: GetObjectCommandInput, send) => {
      const response = await send();
      if (ranges.push(Range) > 1) return response;
      const bytes = await buffer((response.output as GetObjectCommandOutput).Body as Readable);
      const Body = Readable.from(
        (function* () {
          yield bytes.subarray(0, 50);
          throw Object.assign(new Error("aborted"), { code: "ECONNRESET" });
        })(),
      );
      return { ...response, output: { ...response.output, Body } };
    });
    onTestFinished(end);
    expect(await objects.readWhole(KEY, range)).toEqual(expected);
    expect(ranges).toEqual([ranges[0], expect.stringMatching(new RegExp(`^bytes=${(range.from ?? 0) + 50}-`))]);
  },
);
