import * as fc from "fast-check";
import { expect, it } from "vitest";
import { jsonLines } from "../../../apps/cli/json-lines.ts";
import { chunksOf } from "../../../lib/retry.ts";

const linesIn = async (bytes: Uint8Array, size: number): Promise<(string | undefined)[]> => {
  async function* chunks() {
    for (const chunk of chunksOf([...bytes], size)) yield Buffer.from(chunk);
  }
  return Array.fromAsync(jsonLines(chunks()));
};

it("gives each JSON text that was written on a line of its own, however the bytes come", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\u2028", "\u2029", "\u0085", "\r", "\n", "\v", "😀", '"') });
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.integer({ min: 1, max: 9 }), fc.boolean(), async (texts, size, isEnded) => {
      const lines = texts.map((each) => JSON.stringify(each));
      const bytes = Buffer.from(lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));
      expect(await linesIn(bytes, size)).toEqual(lines);
    }),
  );
});

it("leaves out a byte order cursor at the beginning alone, and says which line isn't UTF-8", async () => {
  const bytes = Buffer.concat([Buffer.from("\uFEFFa\r\n"), Buffer.from([0xff, 0x0a]), Buffer.from("\uFEFFb\n\nc")]);
  expect(await linesIn(bytes, 2)).toEqual(["a\r", undefined, "\uFEFFb", "", "c"]);
});
