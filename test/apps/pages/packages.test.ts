import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildPackages } from "../../../apps/pages/packages.ts";

test("the packages for callers name their licence, their SHA-512, and the licences of what the command contains", async () => {
  const packages = await buildPackages();
  expect(packages.map(({ name }) => name)).toEqual(["work-items-client", "work-items"]);
  for (const { bytes, integrity } of packages) {
    expect(gunzipSync(bytes).toString()).toContain('"license": "Apache-2.0"');
    expect(integrity).toBe(`sha512-${createHash("sha512").update(bytes).digest("base64")}`);
  }
  const command = gunzipSync(packages[1]!.bytes).toString();
  expect(command).toMatch(/\ncli-progress 3\.12\.0 \(MIT\)\n/);
  expect(command).toMatch(/\nzod [\d.]+ \(MIT\)\n\nMIT License/);
});
