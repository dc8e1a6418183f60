import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BodyTooLargeError,
  InvalidInputError,
  MalformedBodyError,
  UnsupportedMediaTypeError,
} from "../../../lib/errors.ts";
import { BODY_MAX_BYTES, readJsonBody } from "../../../lib/http/request-body.ts";

const read = (body: string | Buffer | null, contentType?: string, headers = {}) =>
  readJsonBody(
    Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body, isBase64Encoded: false },
    { ...headers, ...(contentType !== undefined && { "content-type": contentType }) },
  );
const valueOf = async (...sent: Parameters<typeof read>): Promise<unknown> => {
  const body = await read(...sent);
  return body.kind === "json" ? body.value : undefined;
};

describe("a JSON body", () => {
  it.each([
    ["application/json", "plain"],
    ["Application/JSON; charset=UTF-8", "with charset"],
    ['application/json;charset="utf8"', "quoted"],
  ])("is read as %s (%s), as text and in base64", async (contentType) => {
    for (const body of ['{"a":"ä"}', Buffer.from('{"a":"ä"}'), '\uFEFF{"a":"ä"}', Buffer.from('\uFEFF{"a":"ä"}')]) {
      expect(await read(body, contentType)).toEqual({ kind: "json", value: { a: "ä" } });
    }
  });

  it("keeps every digit in custom attributes, and keys that objects have by themselves", async () => {
    const attributes =
      '{"a":9007199254740993,"b":[0.10000000000000000001],"c":1.0,"d":1e400,"constructor":{"prototype":1}}';
    const text = `{"work_items":[{"custom_attributes":${attributes}}]}`;
    expect(JSON.stringify(await valueOf(text, "application/json"))).toBe(text);
  });

  it("has plain numbers elsewhere, so that no message calls them objects", async () => {
    const text = '{"a":[9007199254740993,{"b":1.0,"__proto__":1e6}],"custom_attributes":{"c":1.0}}';
    const value = await valueOf(text, "application/json");
    expect(JSON.stringify(value)).toBe(
      '{"a":[9007199254740992,{"b":1,"__proto__":1000000}],"custom_attributes":{"c":1.0}}',
    );
  });

  it("gives every number back as it was written", async () => {
    const digits = fc.stringMatching(/^\d{0,22}$/);
    const number = fc
      .tuple(
        fc.constantFrom("", "-"),
        fc.stringMatching(/^(?:0|[1-9]\d{0,20})$/),
        fc.stringMatching(/^0{0,9}$/),
        digits,
        fc.constantFrom("", "e5", "E-7", "e+300"),
      )
      .map(([sign, whole, zeros, rest, exponent]) => {
        const fraction = zeros + rest;
        return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}${exponent}`;
      });
    await fc.assert(
      fc.asyncProperty(number, async (written) => {
        const text = `{"custom_attributes":[${written}]}`;
        expect(JSON.stringify(await valueOf(text, "application/json"))).toBe(text);
      }),
      { numRuns: 2000, examples: [["0.0000001"], ["0.00000012"], ["0.10"], ["-0"], ["1E5"]] },
    );
  });

  it.each([
    undefined,
    "",
    "text/plain",
    "application/jsonp",
    "application/vnd.api+json",
    "application/json, text/plain",
  ])("is rejected as %j", async (contentType) => {
    await expect(read("{}", contentType)).rejects.toThrow(UnsupportedMediaTypeError);
  });

  it.each(["iso-8859-1", "utf-16"])("is rejected in charset %s", async (charset) => {
    await expect(read("{}", `application/json; charset=${charset}`)).rejects.toThrow(UnsupportedMediaTypeError);
  });

  it.each([null, "", " \n"])("is rejected empty: %j", async (body) => {
    await expect(read(body, "application/json")).rejects.toThrow(MalformedBodyError);
    await expect(read(body, "application/json")).rejects.toThrow("empty");
  });

  it.each(["{", '{"a":1,}', "{'a':1}", "undefined", "{} {}", '"\n"', "NaN", "[1", '{"secret":x}'])(
    "is rejected malformed, without a quotation: %j",
    async (body) => {
      const refusal = await read(body, "application/json").catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(MalformedBodyError);
      expect(String(refusal)).not.toContain("secret");
    },
  );

  it("is rejected if its bytes aren't UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    await expect(read(bytes, "application/json")).rejects.toThrow(
      new MalformedBodyError("the request body is not valid UTF-8"),
    );
  });

  it("is rejected as too deep, not as broken, if its nesting breaks the parser that keeps digits", async () => {
    const depth = 1_000_000;
    const body = `${"[".repeat(depth)}1.0${"]".repeat(depth)}`;
    await expect(read(body, "application/json")).rejects.toThrow(InvalidInputError);
  });

  it("is rejected above 4 MiB, before its type is looked at", async () => {
    const largest = JSON.stringify("x".repeat(BODY_MAX_BYTES - 2));
    expect(await valueOf(largest, "application/json")).toHaveLength(BODY_MAX_BYTES - 2);
    expect(await valueOf(Buffer.from(largest), "application/json")).toHaveLength(BODY_MAX_BYTES - 2);
    for (const larger of [`${largest} `, Buffer.from(`${largest} `), `"${"ä".repeat(BODY_MAX_BYTES / 2)}"`]) {
      await expect(read(larger, "text/plain")).rejects.toThrow(BodyTooLargeError);
    }
  });
});
