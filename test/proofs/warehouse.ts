import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startLocalStack } from "../../infra/local/stack.ts";
import { createClient } from "../../lib/client/client.ts";
import { changeItems, codeOfGuide, createItems, feedIsComplete, listedItems } from "../support/warehouse.ts";

/**
 * Runs for `npm run test:warehouse`: keeps tables by dlt and by Airbyte's source-declarative-manifest as the guide "Keep a
 * copy" says, and compares them with the list of the service.
 */
const { WAREHOUSE_DLT: dlt, WAREHOUSE_AIRBYTE: airbyte } = process.env;
const ITEMS = Number(process.env["WAREHOUSE_ITEMS"] ?? 100_000);
const INCREMENTS = ["first", "second", "third"];
/** Milliseconds after which a run is killed. */
const KILLED_AFTER_MS = 6000;

if (dlt === undefined || airbyte === undefined) {
  console.error(`It needs Python with dlt and Airbyte's CDK, each in an environment of its own:
  python3 -m venv dlt && dlt/bin/pip install "dlt[duckdb]"
  python3 -m venv airbyte && airbyte/bin/pip install airbyte-cdk
  WAREHOUSE_DLT=dlt/bin/python WAREHOUSE_AIRBYTE=airbyte/bin/source-declarative-manifest npm run test:warehouse`);
  process.exit(1);
}

/** A table that is kept by a tool. */
interface Copy {
  readonly name: string;
  /** Program and arguments of a run. */
  readonly command: () => readonly string[];
  /** Takes what a run has printed. */
  readonly take: (output: string) => void;
  /** The external ids and types of the table's items, by id. */
  readonly read: () => Promise<ReadonlyMap<string, string>>;
}

const directory = mkdtempSync(join(tmpdir(), "warehouse-"));
const stack = await startLocalStack({ port: 0, dataDirectory: join(directory, "data") });
const client = createClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });
const file = (name: string): string => join(directory, name);

const READ_TABLE = `import duckdb, json
rows = duckdb.connect("work_items.duckdb", read_only=True).sql(
    "SELECT id, external_id || ' ' || type FROM service.work_items"
).fetchall()
print(json.dumps(rows))`;

const dltCopy: Copy = {
  name: "dlt",
  command: () => [dlt, file("keep_a_copy.py")],
  take: () => undefined,
  read: async () => {
    // dlt's own Python reads the file, because a DuckDB of another version can't.
    const { stdout } = await promisify(execFile)(dlt, ["-c", READ_TABLE], { cwd: directory, maxBuffer: 2 ** 30 });
    return new Map(JSON.parse(stdout) as [string, string][]);
  },
};

/** What Airbyte's destination keeps of a stream: the last record of each id, and the state of the last run. */
const records = new Map<
  string,
  { readonly external_id: string; readonly type: string; readonly deleted_at?: string | null }
>();
const airbyteCopy: Copy = {
  name: "Airbyte",
  command: () => [
    airbyte,
    "read",
    "--config",
    file("config.json"),
    "--catalog",
    file("catalog.json"),
    "--manifest-path",
    file("manifest.yaml"),
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
        .map(([id, { external_id: externalId, type }]) => [id, `${externalId} ${type}`]),
    ),
};

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
    ([id, { external_id: externalId, type }]) => table.get(id) !== `${externalId} ${type}`,
  );
  const extra = [...table.keys()].filter((id) => !items.has(id));
  differences += wrong.length + extra.length;
  console.log(
    `${copy.name}, ${after}: rows ${table.size}, missing or different ${wrong.length}, too many ${extra.length}`,
  );
}

const environment = { ...process.env, BASE_URL: stack.baseUrl, API_KEY: stack.apiKey, DLT_DATA_DIR: file("dlt") };
const streamDescriptor = { name: "work_items", json_schema: {}, supported_sync_modes: ["full_refresh", "incremental"] };
mkdirSync(file("dlt"));
writeFileSync(file("keep_a_copy.py"), codeOfGuide("py"));
writeFileSync(file("manifest.yaml"), codeOfGuide("yaml"));
writeFileSync(file("config.json"), JSON.stringify({ base_url: stack.baseUrl, api_key: stack.apiKey }));
writeFileSync(
  file("catalog.json"),
  JSON.stringify({
    streams: [{ stream: streamDescriptor, sync_mode: "incremental", destination_sync_mode: "append_dedup" }],
  }),
);
try {
  await createItems(client, "loaded", ITEMS);
  for (const copy of [dltCopy, airbyteCopy]) {
    await runAndKill(copy);
    await run(copy);
    await compare(copy, "first load, once killed");
    for (const name of INCREMENTS) {
      await changeItems(client, `${copy.name}-${name}`);
      await feedIsComplete(client);
      await runAndKill(copy);
      await changeItems(client, `${copy.name}-${name}-later`);
      await feedIsComplete(client);
      await run(copy);
      await compare(copy, `${name} increment, once killed`);
    }
  }
} finally {
  await stack.stop();
  rmSync(directory, { recursive: true });
}
console.log(`items ${ITEMS}, increments ${2 * INCREMENTS.length}, differences ${differences}`);
process.exitCode = differences === 0 ? 0 : 1;
