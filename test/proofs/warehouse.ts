import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createClient } from "../../lib/client/client.ts";
import { startService } from "../hostile/process/service-process.ts";
import { skip } from "./skip.ts";
import { changeItems, codeOfGuide, createItems, feedIsComplete, listedItems } from "../support/warehouse.ts";

/**
 * Runs for `npm run prove -- warehouse`: keeps tables by dlt and by Airbyte's source-declarative-manifest as the guide "Keep a
 * copy" says, and compares them with the list of the service.
 */
const { WAREHOUSE_DLT: dlt, WAREHOUSE_AIRBYTE: airbyte } = process.env;
const ITEMS = Number(process.env["WAREHOUSE_ITEMS"] ?? 100_000);
const INCREMENTS = ["first", "second", "third"];
/** Milliseconds after which a run is killed. */
const KILLED_AFTER_MS = 6000;

if (dlt === undefined || airbyte === undefined) {
  skip(`it needs Python with dlt and Airbyte's CDK, each in an environment of its own:
  python3 -m venv dlt && dlt/bin/pip install "dlt[duckdb]"
  python3 -m venv airbyte && airbyte/bin/pip install airbyte-cdk
  WAREHOUSE_DLT=dlt/bin/python WAREHOUSE_AIRBYTE=airbyte/bin/source-declarative-manifest npm run prove -- warehouse`);
}

/** Custom attributes that a warehouse's own numbers can't hold. */
const LONG_NUMBERS = '{"whole":123456789012345678901234567890,"decimal":-0.12345678901234567890123}';

/** Columns and their types, among them those of fields that are null in every item. */
const COLUMNS = {
  completed_at: "time",
  qa_score: "number",
  description: "text",
  deleted_at: "time",
  custom_attributes: "text",
} as const;

/** What the rows of a table have of an item: the external id and the type, and the text of the custom attributes. */
type Rows = ReadonlyMap<string, { readonly text: string; readonly attributes: string }>;

/** A table that is kept by a tool. */
interface Copy {
  readonly name: string;
  /** Program and arguments of a run. */
  readonly command: () => readonly string[];
  /** Takes what a run has printed. */
  readonly take: (output: string) => void;
  /** The table's items, by id. */
  readonly read: () => Promise<Rows>;
  /** What the types of `COLUMNS` are called there. */
  readonly types: Readonly<Record<(typeof COLUMNS)[keyof typeof COLUMNS], string>>;
  /** The types of the table's columns. */
  readonly columns: () => Promise<Readonly<Record<string, string>>>;
}

const directory = mkdtempSync(join(tmpdir(), "warehouse-"));
const stack = await startService(join(directory, "data"));
const client = createClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
const file = (name: string): string => join(directory, name);

/** Prints the rows of a query. dlt's own Python reads the file, because a DuckDB of another version can't. */
const QUERY = `import duckdb, json, sys
print(json.dumps(duckdb.connect("work_items.duckdb", read_only=True).sql(sys.argv[1]).fetchall()))`;

async function query<Row>(sql: string): Promise<Row[]> {
  const { stdout } = await promisify(execFile)(dlt ?? "", ["-c", QUERY, sql], { cwd: directory, maxBuffer: 2 ** 30 });
  return JSON.parse(stdout);
}

const dltCopy: Copy = {
  name: "dlt",
  command: () => [dlt, file("keep_a_copy.py")],
  take: () => undefined,
  read: async () => {
    const rows = await query<[string, string, string]>(
      "SELECT id, external_id || ' ' || type, custom_attributes FROM service.work_items",
    );
    return new Map(rows.map(([id, text, attributes]) => [id, { text, attributes }]));
  },
  types: { text: "VARCHAR", number: "DOUBLE", time: "TIMESTAMP WITH TIME ZONE" },
  columns: async () =>
    Object.fromEntries(
      await query<[string, string]>("SELECT column_name, column_type FROM (DESCRIBE service.work_items)"),
    ),
};

/** What Airbyte's destination keeps of a stream: the last record of each id, and the state of the last run. */
const records = new Map<
  string,
  {
    readonly external_id: string;
    readonly type: string;
    readonly custom_attributes: string;
    readonly deleted_at?: string | null;
  }
>();
/** The schema of the stream: destinations make its columns by it. */
let schema: Record<string, { readonly type: string | readonly string[]; readonly format?: string }> = {};
const manifest = ["--manifest-path", file("manifest.yaml"), "--components-path", file("components.py")];
const airbyteCopy: Copy = {
  name: "Airbyte",
  command: () => [
    airbyte,
    "read",
    "--config",
    file("config.json"),
    "--catalog",
    file("catalog.json"),
    ...manifest,
    ...(existsSync(file("state.json")) ? ["--state", file("state.json")] : []),
  ],
  take: (output) => {
    for (const line of output.split("\n").filter((each) => each.startsWith("{") && each.endsWith("}"))) {
      const message = JSON.parse(line);
      if (message.type === "RECORD") records.set(message.record.data.id, message.record.data);
      if (message.type === "STATE") writeFileSync(file("state.json"), JSON.stringify([message.state]));
    }
  },
  read: async () =>
    new Map(
      [...records]
        .filter(([, { deleted_at: deletedAt }]) => (deletedAt ?? null) === null)
        .map(([id, item]) => [id, { text: `${item.external_id} ${item.type}`, attributes: item.custom_attributes }]),
    ),
  types: { text: "string", number: "number", time: "date-time" },
  columns: async () => {
    const columns = Object.entries(schema).map(([name, { type, format }]) => [name, format ?? [type].flat()[0]]);
    return Object.fromEntries(columns);
  },
};

/** Asks Airbyte for the stream as the manifest describes it, and chooses it as a user does. */
async function discover(): Promise<void> {
  const args = ["discover", "--config", file("config.json"), ...manifest];
  const { stdout } = await promisify(execFile)(airbyte ?? "", args, { cwd: directory, env: environment });
  const messages = stdout.split("\n").filter((line) => line.startsWith("{"));
  const { catalog } = messages.map((line) => JSON.parse(line)).find(({ type }) => type === "CATALOG");
  const [stream] = catalog.streams;
  schema = stream.json_schema.properties;
  const chosen = { stream, sync_mode: "incremental", destination_sync_mode: "append_dedup" };
  writeFileSync(file("catalog.json"), JSON.stringify({ streams: [chosen] }));
}

/** Sends an item as text: JavaScript would round the numbers. */
async function sendLongNumbers(): Promise<void> {
  const response = await fetch(`${stack.baseUrl}/v1/work_items/batch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${stack.apiKey}`, "Content-Type": "application/json" },
    body: `{"work_items":[{"external_id":"long-numbers","custom_attributes":${LONG_NUMBERS}}]}`,
  });
  if (!response.ok) throw new Error(await response.text());
}

async function run(copy: Copy): Promise<void> {
  const [program = "", ...args] = copy.command();
  const { stdout } = await promisify(execFile)(program, args, { cwd: directory, env: environment, maxBuffer: 2 ** 30 });
  copy.take(stdout);
}

/** Runs a tool and kills it. */
async function runAndKill(copy: Copy): Promise<void> {
  const [program = "", ...args] = copy.command();
  const child = spawn(program, args, { cwd: directory, env: environment, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  const ended = new Promise((resolve) => child.once("close", resolve));
  await Promise.race([ended, sleep(KILLED_AFTER_MS)]);
  child.kill("SIGKILL");
  await ended;
  copy.take(output);
}

let differences = 0;
async function compare(copy: Copy, after: string): Promise<void> {
  const [table, items] = [await copy.read(), await listedItems(client)];
  const wrong = [...items].filter(
    ([id, { external_id: externalId, type }]) => table.get(id)?.text !== `${externalId} ${type}`,
  );
  const extra = [...table.keys()].filter((id) => !items.has(id));
  differences += wrong.length + extra.length;
  console.log(
    `${copy.name}, ${after}: rows ${table.size}, missing or different ${wrong.length}, too many ${extra.length}`,
  );
}

/** The columns of another type than they should have, and the numbers that lost a digit. */
async function check(copy: Copy): Promise<void> {
  const columns = await copy.columns();
  const untyped = Object.entries(COLUMNS).filter(([name, type]) => columns[name] !== copy.types[type]);
  const rows = [...(await copy.read()).values()];
  const long = rows.find(({ text }) => text.startsWith("long-numbers "))?.attributes.replaceAll(" ", "");
  const wrong = long === LONG_NUMBERS ? 0 : 1;
  differences += untyped.length + wrong;
  console.log(`${copy.name}: columns without their type ${untyped.length}, items with other numbers ${wrong}`);
}

const environment = {
  ...process.env,
  BASE_URL: stack.baseUrl,
  API_KEY: stack.apiKey,
  DLT_DATA_DIR: file("dlt"),
  AIRBYTE_ENABLE_UNSAFE_CODE: "true",
};
mkdirSync(file("dlt"));
writeFileSync(file("keep_a_copy.py"), codeOfGuide("py", "dlt"));
writeFileSync(file("manifest.yaml"), codeOfGuide("yaml", "Airbyte"));
writeFileSync(file("components.py"), codeOfGuide("py", "Airbyte"));
writeFileSync(file("config.json"), JSON.stringify({ base_url: stack.baseUrl, api_key: stack.apiKey }));
try {
  await discover();
  await createItems(client, "loaded", ITEMS);
  for (const copy of [dltCopy, airbyteCopy]) {
    await sendLongNumbers();
    await runAndKill(copy);
    await run(copy);
    await compare(copy, "first load, once killed");
    await check(copy);
    for (const name of INCREMENTS) {
      await changeItems(client, `${copy.name}-${name}`);
      await feedIsComplete(client);
      await runAndKill(copy);
      await changeItems(client, `${copy.name}-${name}-later`);
      await sendLongNumbers();
      await feedIsComplete(client);
      await run(copy);
      await compare(copy, `${name} increment, once killed`);
      await check(copy);
    }
  }
} finally {
  await stack.stop();
  rmSync(directory, { recursive: true });
}
console.log(`items ${ITEMS}, increments ${2 * INCREMENTS.length}, differences ${differences}`);
process.exitCode = differences === 0 ? 0 : 1;
