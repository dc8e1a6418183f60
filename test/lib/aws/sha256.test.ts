import { createHash, createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Sha256 } from "../../../lib/aws/sha256.ts";

const KINDS = {
  text: (bytes: Buffer) => bytes.toString("latin1"),
  bytes: (bytes: Buffer) => bytes,
  "a part of a buffer": (bytes: Buffer) => new DataView(Uint8Array.from([1, ...bytes, 2]).buffer, 1, bytes.length),
  "a whole buffer": (bytes: Buffer) => Uint8Array.from(bytes).buffer,
};
const bytesOf = (data: string | ArrayBuffer | ArrayBufferView): Buffer => {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
};
const data = fc
  .tuple(fc.constantFrom(...Object.values(KINDS)), fc.uint8Array({ minLength: 1, maxLength: 200 }))
  .map(([make, bytes]) => make(Buffer.from(bytes)));
const digestOf = async (hash: Sha256): Promise<string> => Buffer.from(await hash.digest()).toString("hex");

describe("a signature's SHA-256", () => {
  it("is Node's, of texts, bytes and buffers in pieces, also after a reset", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(data, { maxLength: 4 }), async (pieces) => {
        const expected = createHash("sha256")
          .update(Buffer.concat(pieces.map(bytesOf)))
          .digest("hex");
        const hash = new Sha256();
        for (let round = 0; round < 2; round++) {
          for (const piece of pieces) hash.update(piece);
          expect(await digestOf(hash)).toBe(expected);
          hash.reset();
        }
      }),
    );
  });

  it("is Node's HMAC with a secret of any kind", async () => {
    await fc.assert(
      fc.asyncProperty(data, data, async (secret, message) => {
        const expected = createHmac("sha256", bytesOf(secret)).update(bytesOf(message)).digest("hex");
        const hash = new Sha256(secret);
        for (let round = 0; round < 2; round++) {
          hash.update(message);
          expect(await digestOf(hash)).toBe(expected);
          hash.reset();
        }
      }),
    );
  });
});
