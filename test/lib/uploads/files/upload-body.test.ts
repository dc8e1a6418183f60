import { describe, expect, it } from "vitest";
import {
  BodyTooLargeError,
  InvalidInputError,
  MalformedBodyError,
  UnsupportedMediaTypeError,
} from "../../../../lib/errors.ts";
import { BODY_MAX_BYTES, readJsonBody, type RequestBody } from "../../../../lib/http/request-body.ts";
import { readUploadBody } from "../../../../lib/uploads/files/upload-body.ts";

const read = (body: string | Buffer | null, contentType?: string, headers = {}) =>
  readUploadBody(
    Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body, isBase64Encoded: false },
    { ...headers, ...(contentType !== undefined && { "content-type": contentType }) },
  );
const fileOf = (body: RequestBody) => (body.kind === "file" ? body.file : undefined);

const form = (...fields: readonly { name: string; filename?: string; content?: string }[]): string =>
  [
    ...fields.map(
      ({ name, filename, content = "external_id\r\na\r\n" }) =>
        `--x_y\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n\r\n${content}\r\n`,
    ),
    "--x_y--\r\n",
  ].join("");
const FORM = 'multipart/form-data; boundary="x_y"';

describe("a multipart body", () => {
  it("is read as text and in base64", async () => {
    const file = { filename: "a.csv", content: Buffer.from("external_id\r\na\r\n") };
    const body = form({ name: "upload[file]", filename: "C:\\dir/a.csv" });
    expect(await read(body, FORM)).toEqual({ kind: "file", file, fields: { upload: {} } });
    expect(await read(Buffer.from(body), FORM)).toEqual({ kind: "file", file, fields: { upload: {} } });
  });

  it.each([
    ['x"\\y', String.raw`"x\"\\y"`],
    ["é", "é"],
    ["a\tb", '"a\tb"'],
    ["a b'()+_,-./:=?c", `"a b'()+_,-./:=?c"`],
  ])("may have the boundary %j", async (boundary, quoted) => {
    const body = form({ name: "upload[file]", filename: "a.csv" }).replaceAll("--x_y", `--${boundary}`);
    expect(fileOf(await read(body, `multipart/form-data; boundary=${quoted}`))?.filename).toBe("a.csv");
  });

  it("may have headers of any length", async () => {
    const long = `x="${"y".repeat(100_000)}"; name=`;
    const body = form({ name: "upload[file]", filename: "a.csv" }).replace("name=", long);
    expect(fileOf(await read(body, FORM))?.filename).toBe("a.csv");
  });

  it("may be an empty file", async () => {
    const body = form({ name: "upload[file]", filename: "a.csv", content: "" });
    expect(fileOf(await read(body, FORM))?.content).toHaveLength(0);
  });

  it("may hold a mapping before or after the file, as a text or as a file", async () => {
    const file = { name: "upload[file]", filename: "a.csv" };
    const mapping = { name: "upload[mapping]", content: '{"others":"ignore"}' };
    const fields = { upload: { mapping: { others: "ignore" } } };
    for (const body of [form(file, mapping), form(mapping, file), form({ ...mapping, filename: "m.json" }, file)]) {
      expect(await read(body, FORM)).toEqual({
        kind: "file",
        file: { filename: "a.csv", content: Buffer.from("external_id\r\na\r\n") },
        fields,
      });
    }
  });

  it.each([
    ["no field", form(), "upload[file]: is required"],
    ["another name", form({ name: "file", filename: "a.csv" }), "file: unknown part"],
    ["a field beside it", form({ name: "upload[file]", filename: "a" }, { name: "x" }), "x: unknown part"],
    ["two files", form({ name: "upload[file]", filename: "a" }, { name: "upload[file]", filename: "b" }), "given once"],
    ["two mappings", form(...["1", "2"].map((content) => ({ name: "upload[mapping]", content }))), "given once"],
    ["a mapping alone", form({ name: "upload[mapping]", content: "{}" }), "upload[file]: is required"],
    [
      "a mapping that is no JSON",
      form({ name: "upload[file]", filename: "a" }, { name: "upload[mapping]", content: '{"fields"}' }),
      "upload[mapping]: must be JSON",
    ],
    ["a field in place of a file", form({ name: "upload[file]" }), "must be a file"],
  ])("is rejected with %s", async (_, body, message) => {
    await expect(read(body, FORM)).rejects.toThrow(InvalidInputError);
    await expect(read(body, FORM)).rejects.toThrow(message);
  });

  it.each([
    ["without a boundary", form({ name: "upload[file]", filename: "a" }), "multipart/form-data"],
    ["cut off", form({ name: "upload[file]", filename: "a" }).slice(0, -8), FORM],
    ["empty", "", FORM],
    ["absent", null, FORM],
    ["with a part whose name is empty", form({ name: "" }), FORM],
    ["of 70,000 fields", form(...Array.from({ length: 70_000 }, () => ({ name: "a", content: "" }))), FORM],
  ])("is malformed %s", async (_, body, contentType) => {
    await expect(read(body, contentType)).rejects.toThrow(MalformedBodyError);
  });

  it("is rejected above 4 MiB with advice on larger files", async () => {
    const body = form({ name: "upload[file]", filename: "a", content: "x".repeat(BODY_MAX_BYTES) });
    await expect(read(Buffer.from(body), FORM)).rejects.toThrow(BodyTooLargeError);
    await expect(read(Buffer.from(body), FORM)).rejects.toThrow('{ "upload": { "filename", "size" } }');
  });

  it("yields to JSON where the route accepts both, and is rejected where it accepts JSON only", async () => {
    expect(await read('{"a":1}', "application/json")).toEqual({ kind: "json", value: { a: 1 } });
    const raw = { body: form(), isBase64Encoded: false };
    await expect(readJsonBody(raw, { "content-type": FORM })).rejects.toThrow(UnsupportedMediaTypeError);
    await expect(read("a,b", "text/csv")).rejects.toThrow(
      new UnsupportedMediaTypeError("Content-Type must be multipart/form-data or application/json"),
    );
  });
});
