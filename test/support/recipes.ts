import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../../infra/build.ts";

/** Where a code block of CONTRIBUTING.md goes: before a line that starts so, in place of it, or into a file of its own. */
type Place = readonly [file: string, line?: string, instead?: "instead"];

const FIELDS = "lib/work-items/work-item-fields.ts";
const ROUTES = "functions/routes/service.ts";
const SCOPES = "test/functions/key-scopes.test.ts";
const KINDS = "apps/operator/data/kinds-of-data.ts";
const ITEM_ROUTES = "functions/routes/work-items.ts";
const STATE = "lib/webhooks/endpoint-state.ts";

/** The places of the code blocks, by what a block holds. */
const PLACES: Readonly<Record<string, Place>> = {
  "difficulty: {": [FIELDS, "  custom_attributes: {"],
  "difficulty: fc": ["test/lib/work-items/every-field.test.ts", "  custom_attributes: fc"],
  "getWorkItemAgent: () =>": [ITEM_ROUTES, "  updateWorkItem: () =>"],
  "workItemRoutes.getWorkItemAgent,": ["functions/get-work-item-agent.ts"],
  '"get-work-item-agent": ITEM': ["apps/local/invoke-event.ts", '  "get-work-item-batch": ITEM'],
  'call("getWorkItemAgent"': ["test/functions/get-work-item-agent.test.ts"],
  "getWorkItemAgent: [": [SCOPES, "  getMe: []"],
  "dropped: [": ["lib/uploads/job/counters.ts", '  kept: ["kept_rows"'],
  "return outcome;": ["lib/uploads/chain/row-result.ts", '  return outcome === "dropped"', "instead"],
  "dropped_rows: 0": ["test/scenarios/upload-pipeline.test.ts", "        partly_undone_rows: 0"],
  "WEBHOOK_TYPES = [": [STATE, "export const WEBHOOK_TYPES", "instead"],
  '"upload.failed": {\n  due': [STATE, '  "webhook.test": {'],
  "failed: z.array": [STATE, "  /** Names the message that further jobs"],
  "readonly failed?:": [STATE, "  /** Names the message that jobs may"],
  "const failed = (news": [STATE, "  const isNewer = "],
  '("upload.failed") && {': ["lib/webhooks/deliver.ts", "        ...(wantsJobs"],
  '"upload.failed": {\n  summary': ["infra/openapi/webhook-items.ts", '  "uploads.ended": {'],
  "sends that an upload has failed": ["test/lib/webhooks/upload-failed.test.ts"],
  "putNote: [": [SCOPES, "  getMe: []"],
  'kind: "table", id: "Notes"': ["lib/resources.ts", "  /** Uploaded files, their chunks"],
  '| "NOTE"': ["lib/resources.ts", '  | "LIST_ITEM"'],
  "export function noteKey": ["lib/notes/note-store.ts"],
  "import { noteKey }": [KINDS, "import type { ListingKind"],
  "notes: {\n": [KINDS, "  // Every erasure visits all"],
  "import { text }": [ROUTES, "import { route, routesOf }"],
  "putNote: () =>": [ROUTES, "  getHealth: () =>"],
  "serviceRoutes.putNote,": ["functions/put-note.ts"],
  '"TablesNotes': ["test/infra/stateful-resources.json", '  "TablesWorkItems'],
  "ap: {": ["lib/regions.ts", "} as const satisfies Record"],
};

/** Requests that functions of the recipes take and reject: the sample events, which the recipes describe in words. */
const SAMPLES = {
  "get-work-item-agent": {
    httpMethod: "GET",
    resource: "/v1/work_items/{id}/agent",
    path: "/v1/work_items/e7cad828-da1e-8ec3-9675-2c0f875d9171/agent",
    pathParameters: { id: "e7cad828-da1e-8ec3-9675-2c0f875d9171" },
    body: null,
  },
  "get-work-item-agent.404": {
    httpMethod: "GET",
    resource: "/v1/work_items/{id}/agent",
    path: "/v1/work_items/00000000-0000-8000-8000-000000000000/agent",
    pathParameters: { id: "00000000-0000-8000-8000-000000000000" },
    body: null,
  },
  "put-note": { httpMethod: "POST", path: "/v1/note", body: '{"note":{"text":"Ask Ann."}}' },
  "put-note.422": { httpMethod: "POST", path: "/v1/note", body: '{"note":{"text":""}}' },
};

const contributing = (): string => readFileSync(join(PROJECT_ROOT, "CONTRIBUTING.md"), "utf8");

/** The code of the recipes: their blocks of TypeScript and JSON. */
const codeBlocks = (): string[] =>
  [...contributing().matchAll(/^( *)```(?:ts|json)\n([^]*?)^ *```$/gm)].map(([, indent = "", code = ""]) =>
    code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );

/** The paths of the tests that the recipes name. */
export function namedTests(): string[] {
  const commands = [...contributing().matchAll(/^\d\. `npm test -- ([^`]+)`/gm)];
  return [...new Set(commands.flatMap(([, paths = ""]) => paths.split(" ")))];
}

/** Writes a sample event for each function of the recipes. */
function writeSamples(copy: string): void {
  const like = JSON.parse(readFileSync(join(copy, "events/create-work-item.json"), "utf8")) as object;
  for (const [index, [name, request]] of Object.entries(SAMPLES).entries()) {
    const requestContext = { requestId: `5f0c9a1e-7d3b-4c52-9e0a-${String(index).padStart(12, "f")}` };
    const event = { ...like, resource: request.path, ...request, requestContext };
    writeFileSync(join(copy, `events/${name}.json`), JSON.stringify(event));
  }
}

/** Does in a copy what all recipes say. @throws Error naming a block, or the line before which it goes */
export function applyRecipes(copy: string): void {
  const blocks = codeBlocks();
  for (const part of Object.keys(PLACES)) {
    if (!blocks.some((code) => code.includes(part))) throw new Error(`CONTRIBUTING.md has no code block with ${part}`);
  }
  for (const code of blocks) {
    const [, place] = Object.entries(PLACES).find(([part]) => code.includes(part)) ?? [];
    if (place === undefined) throw new Error(`say in PLACES where this block goes:\n${code}`);
    const [file, before, instead] = place;
    const path = join(copy, file);
    const text = before === undefined ? "" : readFileSync(path, "utf8");
    const at = before === undefined ? 0 : text.indexOf(`\n${before}`) + 1;
    if (before !== undefined && at === 0) throw new Error(`${file} has no line that starts with ${before}`);
    mkdirSync(dirname(path), { recursive: true });
    const after = instead === undefined ? at : text.indexOf("\n", at) + 1;
    writeFileSync(path, `${text.slice(0, at)}${code}${text.slice(after)}`);
  }
  writeSamples(copy);
}
