import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIELDS_MAX, MalformedMultipartError, scanMultipart } from "../../../lib/http/multipart.ts";
import { readUploadBody } from "../../../lib/uploads/files/upload-body.ts";
import { cpuMillisecondsOf } from "../../support/cpu-time.ts";

const CONTENT = "external_id,type\r\na,b\r\n\r\n--not-a-boundary\r\n";

interface Client {
  readonly client: string;
  readonly contentType: string;
  /** The body that the client sends; `<content>` is a placeholder for the file. */
  readonly body: string;
  readonly filename?: string;
}

const lines = (...text: string[]): string => text.join("\r\n");

/** Requests of common clients. */
const clients: readonly Client[] = [
  {
    client: "curl",
    contentType: "multipart/form-data; boundary=------------------------d74496d66958873e",
    body: lines(
      "--------------------------d74496d66958873e",
      'Content-Disposition: form-data; name="upload[file]"; filename="file.csv"',
      "Content-Type: text/csv",
      "",
      "<content>",
      "--------------------------d74496d66958873e--",
      "",
    ),
  },
  {
    client: "Chrome",
    contentType: "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
    body: lines(
      "------WebKitFormBoundary7MA4YWxkTrZu0gW",
      'Content-Disposition: form-data; name="upload[file]"; filename="größe %22x%22.csv"',
      "Content-Type: text/csv",
      "",
      "<content>",
      "------WebKitFormBoundary7MA4YWxkTrZu0gW--",
      "",
    ),
    filename: "größe %22x%22.csv",
  },
  {
    client: "Python requests",
    contentType: "multipart/form-data; boundary=0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e",
    body: lines(
      "--0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e",
      'Content-Disposition: form-data; name="upload[file]"; filename="file.csv"',
      "",
      "<content>",
      "--0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e--",
      "",
    ),
  },
  {
    client: "Python requests, a name that is not ASCII",
    contentType: "multipart/form-data; boundary=0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e",
    body: lines(
      "--0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e",
      "Content-Disposition: form-data; name=\"upload[file]\"; filename*=utf-8''gr%C3%B6%C3%9Fe.csv",
      "",
      "<content>",
      "--0e4e1b4c2f3a4b5c9d8e7f6a5b4c3d2e--",
      "",
    ),
    filename: "größe.csv",
  },
  {
    client: ".NET HttpClient",
    contentType: 'multipart/form-data; boundary="5f1c0b0e-7a51-4d6e-9d53-0d7b9a5f8e21"',
    body: lines(
      "--5f1c0b0e-7a51-4d6e-9d53-0d7b9a5f8e21",
      "Content-Type: text/csv",
      "Content-Disposition: form-data; name=upload[file]; filename=file.csv; filename*=utf-8''file.csv",
      "",
      "<content>",
      "--5f1c0b0e-7a51-4d6e-9d53-0d7b9a5f8e21--",
      "",
    ),
  },
  {
    client: "Apache HttpClient 4",
    contentType: "multipart/form-data; boundary=Wd_3-xK9_qPz-0aBcDeFgHiJkLmN_; charset=UTF-8",
    body: lines(
      "--Wd_3-xK9_qPz-0aBcDeFgHiJkLmN_",
      'Content-Disposition: form-data; name="upload[file]"; filename="file.csv"',
      "Content-Type: text/csv",
      "Content-Transfer-Encoding: binary",
      "",
      "<content>",
      "--Wd_3-xK9_qPz-0aBcDeFgHiJkLmN_--",
      "",
    ),
  },
  {
    client: "Apache HttpClient 5",
    contentType: "multipart/form-data; charset=ISO-8859-1; boundary=httpclient_boundary_f3c1d2e4-5b6a",
    body: lines(
      "--httpclient_boundary_f3c1d2e4-5b6a",
      'Content-Disposition: form-data; name="upload[file]"; filename="file.csv"',
      "Content-Type: text/csv; charset=UTF-8",
      "",
      "<content>",
      "--httpclient_boundary_f3c1d2e4-5b6a--",
      "",
    ),
  },
  {
    client: "OkHttp",
    contentType: "multipart/form-data; boundary=2b0c7b1e-9b7d-4a3c-8a55-9b1de1f0a111",
    body: lines(
      "--2b0c7b1e-9b7d-4a3c-8a55-9b1de1f0a111",
      'Content-Disposition: form-data; name="upload[file]"; filename="file.csv"',
      "Content-Type: text/csv",
      `Content-Length: ${CONTENT.length}`,
      "",
      "<content>",
      "--2b0c7b1e-9b7d-4a3c-8a55-9b1de1f0a111--",
      "",
    ),
  },
  {
    client: "a client with a preamble, padding, an epilogue and every legal character in its boundary",
    contentType: `Multipart/Form-Data;Boundary="'()+_,-./:=? x"`,
    body: lines(
      "This is a multipart message.",
      "--'()+_,-./:=? x  ",
      'CONTENT-DISPOSITION: Form-Data; NAME="upload[file]"; FILENAME="C:\\dir\\\\file.csv"',
      "",
      "<content>",
      "--'()+_,-./:=? x--  ",
      "the end",
    ),
    filename: "C:\\dir\\file.csv",
  },
];

describe("scanMultipart", () => {
  it.each(clients)(
    "hands the file that $client sends to the endpoint",
    async ({ contentType, body, filename = "file.csv" }) => {
      const raw = { body: Buffer.from(body.replace("<content>", CONTENT)).toString("base64"), isBase64Encoded: true };
      const read = await readUploadBody(raw, { "content-type": contentType });
      expect(read).toHaveProperty("file", { filename: filename.replace(/^.*\\/, ""), content: Buffer.from(CONTENT) });
    },
  );

  it("hands any bytes to the endpoint as they were", async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc.constantFrom("\r\n--x_y", "\r\n", "--x_y--\n", "\r\n--x_yz\r\n").map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 4 }), async (chunks) => {
        const content = Buffer.concat(chunks);
        fc.pre(!/\r\n--x_y(?:--|[ \t]*\r\n)/.test(`\r\n${content.toString("latin1")}\r\n`));
        const head = '--x_y\r\nContent-Disposition: form-data; name="upload[file]"; filename="a"\r\n\r\n';
        const body = Buffer.concat([Buffer.from(head), content, Buffer.from("\r\n--x_y--\r\n")]).toString("base64");
        const raw = { body, isBase64Encoded: true };
        const read = await readUploadBody(raw, {
          "content-type": "multipart/form-data; boundary=x_y",
        });
        expect(read.kind === "file" && read.file.content.equals(content)).toBe(true);
      }),
    );
  });

  it("returns every field byte for byte, whatever its content", () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .constantFrom("\r\n", "--", "\r\n--x", "\r\n--xyz x", "a--xyz--", "\r\n\r\n", "\r\n--xyzz\r\n")
        .map((text) => Buffer.from(text)),
    );
    const fields = fc.array(fc.record({ name: fc.constantFrom("a", "b[c]", "größe"), content }), { maxLength: 6 });
    fc.assert(
      fc.property(fields, (sent) => {
        const written = sent.flatMap((field) => [
          Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="${field.name}"; filename="f"\r\n\r\n`),
          field.content,
          Buffer.from("\r\n"),
        ]);
        const read = scanMultipart(Buffer.concat([...written, Buffer.from("--xyz--\r\n")]), "xyz");
        expect(read.map(({ name, content: bytes }) => ({ name, content: [...bytes] }))).toEqual(
          sent.map(({ name, content: bytes }) => ({ name, content: [...bytes] })),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("rejects a body cut off anywhere", () => {
    const whole = Buffer.from(lines("--xyz", 'Content-Disposition: form-data; name="a"', "", CONTENT, "--xyz--"));
    for (let length = 0; length < whole.length; length++) {
      expect(() => scanMultipart(whole.subarray(0, length), "xyz")).toThrow(MalformedMultipartError);
    }
    expect(scanMultipart(whole, "xyz")).toHaveLength(1);
  });

  it.each([
    ["no boundary", undefined, "--xyz--"],
    ["an empty boundary", "", "----"],
    ["a boundary of 201 characters", "x".repeat(201), `--${"x".repeat(201)}--`],
    ["another boundary", "abc", "--xyz--"],
    ["a field without headers", "xyz", lines("--xyz", "", "content", "--xyz--")],
    ["a field whose headers do not end", "xyz", lines("--xyz", 'Content-Disposition: form-data; name="a"', "--xyz--")],
    ["a field without a name", "xyz", lines("--xyz", "Content-Disposition: form-data", "", "content", "--xyz--")],
    ["a field that isn't form-data", "xyz", lines("--xyz", 'Content-Disposition: file; name="a"', "", "", "--xyz--")],
    [
      "a field in base64",
      "xyz",
      lines(
        "--xyz",
        'Content-Disposition: form-data; name="a"',
        "Content-Transfer-Encoding: base64",
        "",
        "",
        "--xyz--",
      ),
    ],
  ])("rejects %s", (_, boundary, body) => {
    expect(() => scanMultipart(Buffer.from(body), boundary)).toThrow(MalformedMultipartError);
  });

  it("rejects 70,000 fields at once", async () => {
    const field = '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
    const milliseconds = await cpuMillisecondsOf(() =>
      expect(() => scanMultipart(Buffer.from(`${field.repeat(70_000)}--xyz--`), "xyz")).toThrow(`${FIELDS_MAX} parts`),
    );
    expect(milliseconds).toBeLessThan(3000);
    expect(scanMultipart(Buffer.from(`${field.repeat(FIELDS_MAX)}--xyz--`), "xyz")).toHaveLength(FIELDS_MAX);
  });

  it("reads 4 MiB of lines that are almost delimiters in moderate time", async () => {
    const milliseconds = await cpuMillisecondsOf(() =>
      expect(() => scanMultipart(Buffer.from("\r\n--xyz-".repeat(520_000)), "xyz")).toThrow(MalformedMultipartError),
    );
    expect(milliseconds).toBeLessThan(3000);
  });
});
