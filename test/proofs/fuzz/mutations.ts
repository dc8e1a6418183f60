import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { isObject } from "../../../infra/openapi/schema-form.ts";
import { faultyFile } from "./files.ts";
import type { DescribedRequest, FormPart } from "./requests.ts";
import { anyJson } from "./schema-values.ts";
import type { WireRequest } from "./wire.ts";

/** A change of a request before, or after, its body is made bytes. It is data, so that a failure can be printed. */
export type Mutation =
  | { readonly kind: "json"; readonly at: number; readonly how: "replace" | "remove" | "add"; readonly value: unknown }
  | { readonly kind: "part"; readonly at: number; readonly part: FormPart | undefined }
  | { readonly kind: "query"; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  | { readonly kind: "gzip"; readonly how: "whole" | "cut" | "bomb" }
  | { readonly kind: "bytes"; readonly at: number; readonly remove: number; readonly insert: Uint8Array };

const LONG = 70_000;
const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
const troublesome = fc.oneof(
  { weight: 4, arbitrary: anyJson },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      "\ud800",
      "x".repeat(LONG),
      "",
      "2026-02-30T00:00:00Z",
      "2026-03-01T10:00:00",
      "0000-01-01T00:00:00Z",
      "not-an-address@",
      -1,
      0,
      0.5,
      5 * 1024 ** 3 + 1,
      nested(40),
      nested(1000),
      Array.from({ length: 101 }, (_, index) => ({ external_id: `many-${index}` })),
      { ["__proto__"]: 1 },
      JSON.parse('{"__proto__":{"a":1}}'),
    ),
  },
);

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ["Content-Type", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']],
  ["Content-Type", ["text/plain", "application/json; charset=latin1", "", ";", "application/x-www-form-urlencoded"]],
  ["Content-Type", ["multipart/form-data", "multipart/form-data; boundary=", 'multipart/form-data; boundary="a b"']],
  ["Content-Encoding", ["gzip", "identity", "br", "gzip, gzip", "x-gzip"]],
  ["Idempotency-Key", ["", "key-1", "é", "k".repeat(255), "k".repeat(256), "a\tb"]],
  ["If-Match", ["*", '"1"', 'W/"1"', '"1", "2"', "1", '"', "", '"ä"', "*, *", ', "1" ,']],
  ["If-None-Match", ["*", '"1"', "x", "", '"\u0000"']],
  ["Accept", ["application/problem+json", "application/problem+json;q=0", "text/html", ",,;;", "*/*"]],
  ["Accept-Encoding", ["gzip", "br;q=1.0, *;q=0", "identity;q=0", "*"]],
  ["Authorization", ["", "Bearer", "Bearer x", "Basic eDp5", "bearer  "]],
  ["Origin", ["https://example.com", "null", ""]],
  ["X-Forwarded-Proto", ["gopher"]],
  ["Host", ["", "example.com:99999"]],
];
const header = fc
  .constantFrom(...HEADERS)
  .chain(([name, values]) => fc.constantFrom(...values).map((value): Mutation => ({ kind: "header", name, value })));

const PARAMETERS = [
  "limit",
  "cursor",
  "after",
  "status",
  "external_id",
  "completed_from",
  "agent_email",
  "colour",
  "__proto__",
  "",
];
const VALUES = ["", "0", "1", "100", "101", "1e1", "a", "ä\u0000", "2026-03-01T10:00:00 01:00", "x".repeat(2000), "[]"];
const query = fc.record({
  kind: fc.constant("query" as const),
  name: fc.constantFrom(...PARAMETERS),
  values: fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 2 }),
});

const part: fc.Arbitrary<FormPart | undefined> = fc.option(
  fc.record(
    {
      name: fc.constantFrom(
        "upload[file]",
        "upload[mapping]",
        "upload[dry_run]",
        "file",
        "",
        'a"b',
        "upload[file]\r\nX: y",
      ),
      filename: fc.constantFrom("items.csv", "", "../../etc/passwd", 'a"b;\\', "ü.csv", "x".repeat(3000)),
      content: fc.oneof(faultyFile, fc.constantFrom("", "{}", "true", "null", '{"fields":{}}', "[[[[", "\ud800")),
    },
    { requiredKeys: ["name", "content"] },
  ) as fc.Arbitrary<FormPart>,
  { nil: undefined },
);

const bytes = fc.record({
  kind: fc.constant("bytes" as const),
  at: fc.nat({ max: 300 }),
  remove: fc.oneof(fc.nat({ max: 10 }), fc.constant(1_000_000)),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom(Buffer.from("\u{feff}"), Buffer.from([0xff, 0xfe])),
  ),
});

const json = fc.record({
  kind: fc.constant("json" as const),
  at: fc.nat({ max: 60 }),
  how: fc.constantFrom("replace" as const, "replace" as const, "remove" as const, "add" as const),
  value: troublesome,
});

const IDS = ["", "..", "%", "a/b", "00000000-0000-0000-0000-000000000000", "ä", "x".repeat(3000), "#ITEM"];

/** A change of any kind. */
export const anyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 10, arbitrary: json },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("part" as const), at: fc.nat({ max: 3 }), part }) },
  { weight: 3, arbitrary: query },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("id" as const), id: fc.constantFrom(...IDS) }) },
  { weight: 4, arbitrary: header },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("gzip" as const), how: fc.constantFrom("whole", "cut", "bomb") }),
  },
  { weight: 4, arbitrary: bytes },
);

type Path = readonly (string | number)[];
const pathsIn = (value: unknown, path: Path = []): Path[] => [
  path,
  ...(Array.isArray(value)
    ? value.flatMap((each, index) => pathsIn(each, [...path, index]))
    : isObject(value)
      ? Object.entries(value).flatMap(([key, each]) => pathsIn(each, [...path, key]))
      : []),
];

const changed = (value: unknown, path: Path, change: (value: unknown) => unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((each: unknown, index) => (index === key ? changed(each, rest, change) : each));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === key ? changed(each, rest, change) : each]),
  );
};

const withoutLast = (value: unknown, path: Path): unknown => {
  const last = path.at(-1);
  return changed(value, path.slice(0, -1), (parent) => {
    if (Array.isArray(parent)) return parent.filter((_, index) => index !== last);
    if (!isObject(parent)) return parent;
    return Object.fromEntries(Object.entries(parent).filter(([key]) => key !== last));
  });
};

const mutateJson = (value: unknown, { at, how, value: other }: Extract<Mutation, { kind: "json" }>): unknown => {
  const paths = pathsIn(value);
  const path = paths[at % paths.length] ?? [];
  if (how === "replace") return changed(value, path, () => other);
  if (how === "remove") return withoutLast(value, path);
  return changed(value, path, (place) =>
    Array.isArray(place) ? [...(place as unknown[]), other] : isObject(place) ? { ...place, colour: other } : other,
  );
};

/** Applies a change to the request that is described. Those of another kind leave it as it is. */
export const mutateDescribed = (request: DescribedRequest, mutation: Mutation): DescribedRequest => {
  const { body } = request;
  if (mutation.kind === "json" && body.kind === "json") {
    return { ...request, body: { kind: "json", value: mutateJson(body.value, mutation) } };
  }
  if (mutation.kind === "part" && body.kind === "form") {
    const parts = body.parts.toSpliced(
      mutation.at % (body.parts.length + 1),
      mutation.part ? 0 : 1,
      ...(mutation.part ? [mutation.part] : []),
    );
    return { ...request, body: { kind: "form", parts } };
  }
  return request;
};

const BOMB = gzipSync(Buffer.alloc(20 * 1024 * 1024));

const gzipped = (body: Buffer, how: "whole" | "cut" | "bomb"): Buffer => {
  if (how === "bomb") return BOMB;
  const packed = gzipSync(body);
  return how === "whole" ? packed : packed.subarray(0, packed.length >> 1);
};

/** Applies a change to the request that is sent. Those of another kind leave it as it is. */
export const mutateWire = (request: WireRequest, mutation: Mutation): WireRequest => {
  switch (mutation.kind) {
    case "query":
      return { ...request, query: { ...request.query, [mutation.name]: mutation.values } };
    case "id":
      return request.id === undefined ? request : { ...request, id: mutation.id };
    case "header":
      return { ...request, headers: { ...request.headers, [mutation.name]: mutation.value } };
    case "gzip":
      return request.body === undefined
        ? request
        : {
            ...request,
            body: gzipped(request.body, mutation.how),
            headers: { ...request.headers, "Content-Encoding": "gzip" },
          };
    case "bytes": {
      if (request.body === undefined) return request;
      const at = Math.min(mutation.at, request.body.length);
      const rest = request.body.subarray(at + mutation.remove);
      return { ...request, body: Buffer.concat([request.body.subarray(0, at), mutation.insert, rest]) };
    }
    default:
      return request;
  }
};
