import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The code of the guide "Keep a copy" in a language: the first below a heading. */
function codeOfGuide(language: "ts" | "python" | "sh" | "sql" | "py", heading = "Keep a copy"): string {
  const guide = readFileSync(new URL("../../../docs/guides/6-keep-a-copy.md", import.meta.url), "utf8");
  const [, code] = new RegExp(`^#+ ${heading}$[^]*?^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(guide) ?? [];
  if (code === undefined) throw new Error(`the guide has no code in ${language} below ${heading}`);
  return code;
}

/** What copies have of an item: its external id and type, and the JSON text of its custom attributes. */
export interface CopiedItem {
  readonly externalId: string;
  readonly type: string | null;
  readonly attributes: string;
}

/** A copy of all work items that a recipe of the guide "Keep a copy" keeps. */
export interface Copy {
  readonly name: string;
  /** What the recipe's program must run in, and isn't there. */
  readonly lacks?: string | undefined;
  /** Runs the recipe. @param killedAfterMs when it is killed, with all that it started, unless it has ended by then */
  readonly run: (killedAfterMs?: number) => Promise<void>;
  /** The items of the copy, by id. */
  readonly read: () => Promise<ReadonlyMap<string, CopiedItem>>;
  /** Columns that don't have the type of their field, where the tool makes the columns. */
  readonly untypedColumns?: () => Promise<readonly string[]>;
}

/** The service, and a directory in which each copy gets one of its own. */
export interface Source {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly directory: string;
}

/** Columns that dlt makes in DuckDB and their types, among them those of fields that are null in every item. */
const COLUMNS = {
  completed_at: "TIMESTAMP WITH TIME ZONE",
  qa_score: "DOUBLE",
  description: "VARCHAR",
  deleted_at: "TIMESTAMP WITH TIME ZONE",
  custom_attributes: "VARCHAR",
} as const;

/** Makes a directory with these files. */
const directoryOf = ({ directory }: Source, name: string, files: Readonly<Record<string, string>>): string => {
  const own = join(directory, name);
  mkdirSync(own);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(own, file), text);
  return own;
};

/** Runs a program in a directory. @throws Error if it fails and wasn't killed */
const execute = async (
  { baseUrl, apiKey }: Source,
  cwd: string,
  [program = "", ...args]: readonly string[],
  killedAfterMs?: number,
): Promise<void> => {
  const environment = {
    ...process.env,
    BASE_URL: baseUrl,
    API_KEY: apiKey,
    NODE_NO_WARNINGS: "1",
    DLT_DATA_DIR: join(cwd, "dlt"),
    RUNTIME__DLTHUB_TELEMETRY: "false",
  };
  const child = spawn(program, args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let [output, complaint] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk) => (output += String(chunk)));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (complaint += String(chunk)));
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (killedAfterMs !== undefined) {
    await Promise.race([ended, sleep(killedAfterMs)]);
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  }
  const code = await ended;
  if (code !== 0 && killedAfterMs === undefined) throw new Error(`${program} failed: ${complaint || output}`);
};

/** A SQLite database that the guide's code keeps, with each item as JSON text. */
const sqliteCopy = (source: Source, name: string, language: "ts" | "python", program: string, file: string): Copy => {
  const directory = directoryOf(source, language, { [file]: codeOfGuide(language) });
  return {
    name,
    run: (killedAfterMs) => execute(source, directory, [program, file], killedAfterMs),
    read: async () => {
      const db = new DatabaseSync(join(directory, "copy.db"), { readOnly: true });
      const rows = db.prepare("SELECT id, item FROM items").all() as { id: string; item: string }[];
      db.close();
      return new Map(
        rows.map(({ id, item }) => {
          const { external_id: externalId, type } = JSON.parse(item) as { external_id: string; type: string | null };
          // As in the text: parsed, two keys that are U+FFFD would be one.
          const [, attributes = ""] = /"custom_attributes": ?(\{[^]*\}), ?"short_description": ?/.exec(item) ?? [];
          return [id, { externalId, type, attributes }];
        }),
      );
    },
  };
};

const python = spawnSync("python3", ["-c", "import requests"]).status === 0;

/** DuckDB's npm package has no program: this one runs the statements of its standard input. */
const DUCKDB_PROGRAM = `import { DuckDBInstance } from ${JSON.stringify(import.meta.resolve("@duckdb/node-api"))};
  const connection = await (await DuckDBInstance.create(process.argv[2])).connect();
  await connection.run(await new Response(process.stdin).text());
  connection.closeSync();`;
/** The files that the guide's shell code for DuckDB needs. */
export const DUCKDB_FILES: Readonly<Record<string, string>> = {
  "load.sql": codeOfGuide("sql"),
  "duckdb.mjs": DUCKDB_PROGRAM,
};
/** The guide's shell code, after what calls its programs. */
export const DUCKDB_UPDATE = `work-items() { ${process.execPath} ${ROOT}/apps/cli/work-items-command.ts "$@"; }
duckdb() { ${process.execPath} duckdb.mjs "$@"; }
${codeOfGuide("sh")}`;

const duckdbCopy = (source: Source): Copy => {
  const directory = directoryOf(source, "duckdb", { ...DUCKDB_FILES, "update.sh": DUCKDB_UPDATE });
  return {
    name: "DuckDB",
    run: (killedAfterMs) => execute(source, directory, ["bash", "update.sh"], killedAfterMs),
    read: async () => {
      const instance = await DuckDBInstance.create(join(directory, "warehouse.duckdb"));
      const connection = await instance.connect();
      const reader = await connection.runAndReadAll(
        "SELECT id, external_id, type, custom_attributes::VARCHAR FROM work_items",
      );
      const rows = reader.getRowsJson() as [string, string, string | null, string][];
      connection.closeSync();
      instance.closeSync();
      return new Map(rows.map(([id, externalId, type, attributes]) => [id, { externalId, type, attributes }]));
    },
  };
};

const dltCopy = (source: Source, dlt: string): Copy => {
  const directory = directoryOf(source, "dlt", { "keep_a_copy.py": codeOfGuide("py", "dlt") });
  /** dlt's own Python reads the file, because a DuckDB of another version can't. */
  const query = async <Row>(sql: string): Promise<Row[]> => {
    const code = `import duckdb, json, sys
print(json.dumps(duckdb.connect("work_items.duckdb", read_only=True).sql(sys.argv[1]).fetchall()))`;
    const { stdout } = await promisify(execFile)(dlt, ["-c", code, sql], { cwd: directory, maxBuffer: 2 ** 30 });
    return JSON.parse(stdout) as Row[];
  };
  return {
    name: "dlt",
    run: (killedAfterMs) => execute(source, directory, [dlt, "keep_a_copy.py"], killedAfterMs),
    read: async () => {
      const rows = await query<[string, string, string | null, string]>(
        "SELECT id, external_id, type, custom_attributes FROM service.work_items",
      );
      return new Map(rows.map(([id, externalId, type, attributes]) => [id, { externalId, type, attributes }]));
    },
    untypedColumns: async () => {
      const columns = await query<[string, string]>(
        "SELECT column_name, column_type FROM (DESCRIBE service.work_items)",
      );
      const types = new Map(columns);
      return Object.entries(COLUMNS).flatMap(([name, type]) => (types.get(name) === type ? [] : [name]));
    },
  };
};

const lacking = (name: string, lacks: string): Copy => ({
  name,
  lacks,
  run: () => Promise.reject(new Error(lacks)),
  read: () => Promise.reject(new Error(lacks)),
});

/** The guide's four copies. That of dlt needs its program, in an environment of Python of its own. */
export function openCopies(source: Source): readonly Copy[] {
  const dlt = process.env["WAREHOUSE_DLT"];
  return [
    duckdbCopy(source),
    sqliteCopy(source, "TypeScript", "ts", process.execPath, "guide.mts"),
    python ? sqliteCopy(source, "Python", "python", "python3", "guide.py") : lacking("Python", "python3 with requests"),
    dlt === undefined
      ? lacking("dlt", 'WAREHOUSE_DLT=dlt/bin/python after python3 -m venv dlt && dlt/bin/pip install "dlt[duckdb]"')
      : dltCopy(source, dlt),
  ];
}

/** JSON text without the spaces between its tokens. */
function compact(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? "");
}

/** What is wrong in a copy: items that it lacks or has otherwise, and items that aren't there any more. */
export function differencesOf(
  copied: ReadonlyMap<string, CopiedItem>,
  expected: ReadonlyMap<string, CopiedItem>,
): string[] {
  const wrong = [...expected].flatMap(([id, item]) => {
    const found = copied.get(id);
    if (found === undefined) return [`${item.externalId} is missing`];
    const attributes = compact(found.attributes);
    if (found.externalId === item.externalId && found.type === item.type && attributes === item.attributes) return [];
    return [`${JSON.stringify(item)} is ${JSON.stringify({ ...found, attributes })}`];
  });
  const extra = [...copied].flatMap(([id, { externalId }]) => (expected.has(id) ? [] : [`${externalId} is too many`]));
  return [...wrong, ...extra];
}
