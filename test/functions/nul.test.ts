import { beforeAll, describe, expect, it } from "vitest";
import { create as recordConversationUpload } from "../../functions/record-conversation-upload.ts";
import { create as recordQaScore } from "../../functions/record-qa-score.ts";
import { routes } from "../../functions/routes.ts";
import type { Route } from "../../lib/http/route.ts";
import { describeProblems } from "../../lib/errors.ts";
import { importOrganization } from "../../apps/operator/data/import-organization.ts";
import type { RouteName } from "../support/handlers.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { exampleBodyOf } from "../support/openapi/example-body.ts";
import { createTestService } from "../support/service.ts";
import { multipart } from "../support/uploads/multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});

const NUL = "must not contain the NUL character (U+0000)";
type Path = readonly (string | number)[];

/** A value with NUL in each of its strings, one at a time, and in a key of each `custom_attributes`. */
function* withNul(value: unknown, path: Path = []): Generator<{ readonly path: Path; readonly changed: unknown }> {
  if (typeof value === "string") yield { path, changed: `${value}\0` };
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    for (const { path: found, changed } of withNul(inner, [...path, isArray ? Number(key) : key])) {
      const copy: object = isArray ? [...(value as unknown[])] : { ...value };
      yield { path: found, changed: Object.assign(copy, { [key]: changed }) };
    }
  }
  if (path.at(-1) === "custom_attributes") yield { path: [...path, "k\0"], changed: { ...value, "k\0": 1 } };
}
const placeOf = (path: Path): string => describeProblems([{ path, code: "invalid", message: "" }]).replace(/: $/, "");

/** A body with a text in every field, where the documented example has few. */
const ITEM = {
  external_id: "1",
  agent_email: "ann@example.com",
  agent_name: "Ann",
  agent_external_id: "a1",
  type: "ticket",
  status: "pending",
  completed_at: "2026-01-01T00:00:00Z",
  custom_attributes: { team: "one", list: [{ deep: ["text"] }], short_description: "short" },
};
const EVENT = {
  external_id: "e",
  actor_email: "ann@example.com",
  actor_name: "Ann",
  actor_external_id: "a1",
  content: "text",
  occurred_at: "2026-01-01T00:00:00Z",
};
const SOURCE = {
  columns: ["a", "b"],
  join: "-",
  values: { open: "pending" },
  otherwise: "pending",
  prefix: "x",
  format: "iso",
  time_zone: "UTC",
};
const BODIES: Readonly<Partial<Record<RouteName, object>>> = {
  createWorkItem: { work_item: { ...ITEM, events: [EVENT] } },
  applyWorkItemBatch: { work_items: [{ ...ITEM, events: [EVENT] }] },
  updateWorkItem: { work_item: ITEM },
  upsertWorkItemEvent: { event: EVENT },
  updateWebhook: { webhook: { url: "https://hooks.example.com/", types: ["upload.ended"], description: "text" } },
  uploadWorkItems: {
    upload: {
      filename: "file.csv",
      size: 100,
      mapping: {
        fields: { external_id: { column: "id" }, "custom_attributes.a": SOURCE, type: { value: "ticket" } },
        event: { external_id: { first_of: [{ column: "id" }] } },
        empty: ["?"],
      },
    },
  },
};

describe("NUL, which no file may contain, is refused with its path", () => {
  /** What only looks items up saves nothing: no item has such a name. An undo has no text. */
  const without: readonly RouteName[] = ["getWorkItemBatch", "deleteWorkItemBatch", "undoWorkItemUpload"];
  const withBody = (Object.keys(routes) as RouteName[]).filter(
    (name) => (routes[name] as Route).bodyKind !== "none" && !without.includes(name),
  );

  it.each(withBody)("in every string of the body of %s", async (name) => {
    const bodies = [BODIES[name], exampleBodyOf(routes[name])].flatMap((body) => (body ? [...withNul(body)] : []));
    expect(bodies.length).toBeGreaterThan(0);
    const params = routes[name].path.includes("{id}") ? { params: { id: crypto.randomUUID() } } : {};
    for (const { path, changed } of bodies) {
      const { status, body, text } = await service.call(name, { ...params, body: changed });
      expect({ status, text }).toMatchObject({ status: 422 });
      expect(body.error).toContain(placeOf(path));
    }
  });

  it("in the parts and the Idempotency-Key of an upload", async () => {
    const mapping = { fields: { external_id: { column: "id\0" } } };
    const whole = multipart("external_id\n1\n");
    const named = Buffer.from(whole.body.toString().replace("items.csv", "items\0.csv"));
    for (const [request, error] of [
      [{ ...whole, body: named }, `upload[file]: filename ${NUL}`],
      [multipart("id\n1\n", { mapping }), `upload.mapping.fields.external_id.column: ${NUL}`],
    ] as const) {
      const { status, body } = await service.call("uploadWorkItems", request);
      expect({ status, error: body.error }).toEqual({ status: 422, error });
    }
    const headers = { "idempotency-key": "a\0" };
    const { status, body } = await service.call("createWorkItem", { body: { work_item: ITEM }, headers });
    expect({ status, error: body.error }).toMatchObject({
      status: 422,
      error: expect.stringContaining("Idempotency-Key"),
    });
  });

  it("in a cell with JSON, as the error of its row", async () => {
    const uploads = createUploadHarness(service.runtime);
    const file = `external_id,custom_attributes\nnul,"{""a"":[""\\u0000""]}"\nfine,"{""a"":""\\u0001""}"\n`;
    const job = await uploads.upload(service.organization, file);
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    await uploads.drain();
    expect(await uploads.store.readJob(job)).toMatchObject({ status: "completed", succeeded_rows: 1, failed_rows: 1 });
    const { body } = await service.call("getWorkItemUploadFailedRows", { params: { id: job.id } });
    const report = await (await fetch(body.data.url!)).text();
    expect(report).toContain(`custom_attributes.a[0]: ${NUL}`);
  });

  it("in what other systems record", async () => {
    const organization = service.organization.id;
    const conversation = { organization, external_id: "c", source: "phone", status: "pending" };
    for (const [call, payload] of [
      [recordConversationUpload(service.runtime), conversation],
      [recordQaScore(service.runtime), { organization, external_id: "1", qa_score: 1 }],
    ] as const) {
      for (const { path, changed } of withNul(payload)) {
        await expect(call(changed)).rejects.toThrow(`${placeOf(path)}: `);
      }
    }
  });

  it("in the lines of an organization's import", async () => {
    const { id } = service.organization;
    const first = { organization: { id, format: 1, exported_at: "2026-01-01T00:00:00Z" } };
    const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" };
    for (const line of [
      { work_item: { ...ITEM, ...times } },
      { event: { work_item_external_id: "1", ...EVENT, ...times } },
      { conversation_upload: { external_id: "c", source: "phone", status: "pending", ...times } },
    ]) {
      for (const { path, changed } of withNul(line)) {
        const lines = [first, changed].map((each) => JSON.stringify(each));
        const importing = Array.fromAsync(importOrganization(service.runtime, id, asyncOf(lines)));
        await expect(importing).rejects.toThrow(`line 2: ${placeOf(path)}: ${NUL}`);
      }
    }
  });
});

async function* asyncOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
