import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BodyKind } from "../../functions/routes.ts";
import { InvalidInputError } from "../../lib/errors.ts";
import {
  BODY_MAX_BYTES,
  BodyTooLargeError,
  MalformedBodyError,
  readBody,
  UnsupportedMediaTypeError,
} from "../../lib/http/body.ts";

const read = (kind: BodyKind, body: string | Buffer | null, contentType?: string, headers = {}) =>
  readBody(
    kind,
    Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body, isBase64Encoded: false },
    { ...headers, ...(contentType !== undefined && { "content-type": contentType }) },
  );

const form = (...parts: readonly { name: string; filename?: string; content?: string }[]): string =>
  [
    ...parts.map(
      ({ name, filename, content = "external_id\r\na\r\n" }) =>
        `--x_y\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n${content}\r\n`,
    ),
    "--x_y--\r\n",
  ].join("");
const FORM = 'multipart/form-data; boundary="x_y"';

describe("a JSON body", () => {
  it.each([
    ["application/json", "plain"],
    ["Application/JSON; charset=UTF-8", "with charset"],
    ['application/json;charset="utf8"', "quoted"],
  ])("is read as %s (%s), as text and in base64", async (contentType) => {
    for (const body of ['{"a":"ä"}', Buffer.from('{"a":"ä"}'), '\uFEFF{"a":"ä"}', Buffer.from('\uFEFF{"a":"ä"}')]) {
      expect(await read("json", body, contentType)).toEqual({ body: { a: "ä" }, file: undefined });
    }
  });

  it("keeps every digit of every number, and keys that objects have by themselves", async () => {
    const text = '{"a":9007199254740993,"b":0.10000000000000000001,"c":1.0,"d":1e400,"constructor":{"prototype":1}}';
    expect(JSON.stringify((await read("json", text, "application/json")).body)).toBe(text);
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
        const text = `{"a":[${written}]}`;
        expect(JSON.stringify((await read("json", text, "application/json")).body)).toBe(text);
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
  ])("is refused as %j", async (contentType) => {
    await expect(read("json", "{}", contentType)).rejects.toThrow(UnsupportedMediaTypeError);
  });

  it.each(["iso-8859-1", "utf-16"])("is refused in charset %s", async (charset) => {
    await expect(read("json", "{}", `application/json; charset=${charset}`)).rejects.toThrow(UnsupportedMediaTypeError);
  });

  it("is refused compressed", async () => {
    await expect(read("json", "{}", "application/json", { "content-encoding": "gzip" })).rejects.toThrow(
      UnsupportedMediaTypeError,
    );
    expect((await read("json", "{}", "application/json", { "content-encoding": "identity" })).body).toEqual({});
  });

  it.each([null, "", " \n"])("is refused empty: %j", async (body) => {
    await expect(read("json", body, "application/json")).rejects.toThrow(MalformedBodyError);
    await expect(read("json", body, "application/json")).rejects.toThrow("empty");
  });

  it.each(["{", '{"a":1,}', "{'a':1}", "undefined", "{} {}", '"\n"', "NaN", "[1", '{"secret":x}'])(
    "is refused malformed, without a quotation: %j",
    async (body) => {
      const refusal = await read("json", body, "application/json").catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(MalformedBodyError);
      expect(String(refusal)).not.toContain("secret");
    },
  );

  it("is refused where its bytes are no UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    await expect(read("json", bytes, "application/json")).rejects.toThrow(
      new MalformedBodyError("the request body is not valid UTF-8"),
    );
  });

  it("is refused as too deep, not as broken, where its nesting breaks the parser", async () => {
    const depth = 1_000_000;
    const body = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    await expect(read("json", body, "application/json")).rejects.toThrow(InvalidInputError);
  });

  it("is refused above 4 MiB, before its type is looked at", async () => {
    const largest = JSON.stringify("x".repeat(BODY_MAX_BYTES - 2));
    expect((await read("json", largest, "application/json")).body).toHaveLength(BODY_MAX_BYTES - 2);
    expect((await read("json", Buffer.from(largest), "application/json")).body).toHaveLength(BODY_MAX_BYTES - 2);
    for (const larger of [`${largest} `, Buffer.from(`${largest} `), `"${"ä".repeat(BODY_MAX_BYTES / 2)}"`]) {
      await expect(read("json", larger, "text/plain")).rejects.toThrow(BodyTooLargeError);
    }
  });
});

describe("a multipart body", () => {
  it("is read as text and in base64", async () => {
    const file = { filename: "a.csv", content: Buffer.from("external_id\r\na\r\n") };
    const body = form({ name: "upload[file]", filename: "C:\\dir/a.csv" });
    expect(await read("multipart-or-json", body, FORM)).toEqual({ body: undefined, file });
    expect(await read("multipart-or-json", Buffer.from(body), FORM)).toEqual({ body: undefined, file });
  });

  it("may be an empty file", async () => {
    const body = form({ name: "upload[file]", filename: "a.csv", content: "" });
    expect((await read("multipart-or-json", body, FORM)).file?.content).toHaveLength(0);
  });

  it.each([
    ["no part", form(), "upload[file]: is required"],
    ["another name", form({ name: "file", filename: "a.csv" }), "file: unknown part"],
    ["a field beside it", form({ name: "upload[file]", filename: "a" }, { name: "x" }), "x: unknown part"],
    ["two files", form({ name: "upload[file]", filename: "a" }, { name: "upload[file]", filename: "b" }), "one file"],
    ["a field in place of a file", form({ name: "upload[file]" }), "must be a file"],
  ])("is refused with %s", async (_, body, message) => {
    await expect(read("multipart-or-json", body, FORM)).rejects.toThrow(InvalidInputError);
    await expect(read("multipart-or-json", body, FORM)).rejects.toThrow(message);
  });

  it.each([
    ["without a boundary", form({ name: "upload[file]", filename: "a" }), "multipart/form-data"],
    ["cut off", form({ name: "upload[file]", filename: "a" }).slice(0, -8), FORM],
    ["empty", "", FORM],
    ["absent", null, FORM],
    ["of 70,000 parts", form(...Array.from({ length: 70_000 }, () => ({ name: "a", content: "" }))), FORM],
  ])("is malformed %s", async (_, body, contentType) => {
    await expect(read("multipart-or-json", body, contentType)).rejects.toThrow(MalformedBodyError);
  });

  it("is refused above 4 MiB with the way that larger files go", async () => {
    const body = form({ name: "upload[file]", filename: "a", content: "x".repeat(BODY_MAX_BYTES) });
    await expect(read("multipart-or-json", Buffer.from(body), FORM)).rejects.toThrow(BodyTooLargeError);
    await expect(read("multipart-or-json", Buffer.from(body), FORM)).rejects.toThrow(
      '{ "upload": { "filename", "size" } }',
    );
  });

  it("gives way to JSON where the route takes both, and is refused where it takes JSON alone", async () => {
    expect(await read("multipart-or-json", '{"a":1}', "application/json")).toEqual({ body: { a: 1 }, file: undefined });
    await expect(read("json", form(), FORM)).rejects.toThrow(UnsupportedMediaTypeError);
    await expect(read("multipart-or-json", "a,b", "text/csv")).rejects.toThrow(
      new UnsupportedMediaTypeError("Content-Type must be multipart/form-data or application/json"),
    );
  });
});

it("ignores what a request carries where the route takes no body", async () => {
  expect(await read("none", "{".repeat(BODY_MAX_BYTES + 1), "text/plain")).toEqual({
    body: undefined,
    file: undefined,
  });
});
