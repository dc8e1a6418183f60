import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { Marked, type Tokens } from "marked";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const execute = promisify(execFile);
const folder = temporaryDirectory(afterAll);
const TSC = join(PROJECT_ROOT, "node_modules/typescript/bin/tsc");
let stack: TestService;
let page: readonly Tokens.Code[];

const variables = () => ({
  ...process.env,
  BASE_URL: stack.baseUrl,
  API_KEY: stack.apiKey,
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_prefer_offline: "true",
});
const run = async (command: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> =>
  (await execute(command, args, { cwd: folder, env: { ...variables(), ...more } })).stdout;

const codeIn = (markdown: string): readonly Tokens.Code[] =>
  new Marked().lexer(markdown).filter((token): token is Tokens.Code => token.type === "code");
/** Code of the page by its language and name. */
const codeOf = (language: string, pattern: RegExp, tokens = page): string =>
  tokens.find(({ lang, text }) => lang === language && pattern.test(text))?.text ?? "";

// The page and the packages as the service serves them, in a folder that has nothing else.
beforeAll(async () => {
  stack = await startTestService();
  const markdown = await (await fetch(`${stack.baseUrl}/docs/clients.md`)).text();
  page = codeIn(markdown);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("bash", ["-ec", codeOf("console", /^npm install "\$BASE_URL/)]);
  await run("npm", ["install", "standardwebhooks@1.1.1", "@types/node@24.19.2"]);
});
afterAll(() => stack?.stop());

it("the client's package has what its manifest exports, and nothing of the repository's sources", () => {
  const installed = join(folder, "node_modules/work-items-client");
  const files = readdirSync(installed, { recursive: true }).map(String);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    readonly exports: { readonly ".": { readonly types: Record<string, string>; readonly default: string } };
    readonly dependencies: object;
  };
  const { types, default: entry } = manifest.exports["."];
  const exported = [...Object.values(types), entry].map((path) => path.replace("./", ""));
  expect(files).toEqual(expect.arrayContaining(exported));
  expect(files.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
  expect(Object.keys(manifest.dependencies)).toEqual(["openapi-fetch"]);
});

it("the page's programs and the client's own compile with the strictest options, the client's types too", async () => {
  for (const name of ["sync", "receiver"]) writeFileSync(join(folder, `${name}.ts`), codeOf(`ts ${name}`, /./));
  const readme = codeIn(readFileSync(join(folder, "node_modules/work-items-client/README.md"), "utf8"));
  writeFileSync(join(folder, "use.ts"), codeOf("ts use", /./, readme));
  const options = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, exclude: ["commonjs"] }));
  await run(process.execPath, [TSC, "-p", "."]);
  expect(await run("node", ["sync.js"])).toMatch(/created: 500/);
  expect(await run("node", ["sync.js"])).toMatch(/unchanged: 500/);
  writeFileSync(join(folder, "tickets.csv"), "external_id,type\nT-2,ticket\n");
  expect(await run("node", ["use.js"])).toMatch(/^[0-9a-f-]{36} 2 created\n502 \S+\n$/m);
});

it("the page's sync names an item that isn't valid, and applies the others", async () => {
  const invalid = 'type: "ticket", ...(n === 250 && { agent_email: "ann" }),';
  writeFileSync(join(folder, "invalid.ts"), codeOf("ts sync", /./).replace('type: "ticket",', invalid));
  await expect(run("node", ["--experimental-strip-types", "invalid.ts"])).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/unchanged: 499, error: 1/),
    stderr: expect.stringContaining("item 249, sync-250: agent_email: must be an email address\n"),
  });
});

describe("the page's receiver", () => {
  /** Adds its webhook, and starts it. */
  const start = async (port: string, apiKey: string) => {
    const add = codeOf("console", /webhooks add/).split("\n")[0]!;
    const added = await run("bash", ["-ec", `${add.replace("4000", port)} --json`]);
    const { id, secret } = JSON.parse(added) as { readonly id: string; readonly secret: string };
    const receiver = spawn(process.execPath, ["receiver.js"], {
      cwd: folder,
      env: { ...variables(), API_KEY: apiKey, WEBHOOK_SECRET: secret, PORT: port },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stop = async (): Promise<void> => {
      receiver.kill();
      await once(receiver, "exit");
    };
    return { id, receiver, stop };
  };
  const firstLine = async (input: Readable): Promise<string> => {
    for await (const line of createInterface({ input })) return line;
    return "";
  };

  it("prints what changed", async () => {
    const { receiver, stop } = await start("4417", stack.apiKey);
    try {
      expect(await firstLine(receiver.stdout)).toMatch(/^changed [0-9a-f-]{36}$/);
    } finally {
      await stop();
    }
  });

  it("goes on after it couldn't read the changes", async () => {
    const { id, receiver, stop } = await start("4418", "wi_us_revoked");
    try {
      expect(await firstLine(receiver.stderr)).toMatch(/^ApiError: /);
      const [address = ""] = /"\$BASE_URL[^"]+"/.exec(codeOf("console", /--help/)) ?? [];
      const answer = JSON.parse(
        await run("bash", ["-ec", `npx --yes ${address} webhooks test ${id} --json`]),
      ) as object;
      expect(answer).toMatchObject({ status: 204 });
      expect(receiver.exitCode).toBeNull();
    } finally {
      await stop();
    }
  });
});

const COMMON_JS = `
import { ApiError, createClient, inputOf, type WorkItem, type WorkItemInput } from "work-items-client";
import required = require("work-items-client");

const item: WorkItemInput = { external_id: "common-js", type: "call" };
async function main(): Promise<void> {
  const { BASE_URL = "", API_KEY = "" } = process.env;
  const client = createClient({ baseUrl: BASE_URL, apiKey: API_KEY });
  for await (const { external_id } of client.workItems.apply([item])) console.log(external_id);
  for await (const found of client.workItems.list({ external_id: "common-js" })) {
    const read: WorkItem = found;
    console.log(inputOf(read).type);
  }
  const imported = await import("work-items-client");
  console.log(imported.ApiError === ApiError, required.ApiError === ApiError);
  await createClient({ baseUrl: BASE_URL, apiKey: "revoked" }).me();
}
main().catch((error: unknown) => {
  if (error instanceof ApiError) console.log((error satisfies required.ApiError).status);
  else if (error instanceof required.OutageError || error instanceof required.OutcomeUnknownError) throw error;
});
`;

/** The oldest that the packages name, beside the one that runs this test. */
const NODES = ["20.19.0", "22.12.0"];
describe.each(NODES)("in Node %s", (version) => {
  const node = join(folder, version, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node");
  const program = join(folder, version, "command/node_modules/work-items/work-items.cjs");
  beforeAll(async () => {
    await run("npm", ["install", "--prefix", version, `node-${process.platform}-${process.arch}@${version}`]);
    const [, tarball = ""] = /"\$BASE_URL(\/docs\/work-items-1[^"]+)"/.exec(codeOf("console", /--help/)) ?? [];
    await run("npm", ["install", "--prefix", `${version}/command`, stack.baseUrl + tarball]);
  });

  it("the client runs the page's first program", async () => {
    writeFileSync(join(folder, "first.mjs"), codeOf("js first", /./));
    expect(await run(node, ["--version"])).toBe(`v${version}\n`);
    expect(await run(node, ["first.mjs"])).toMatch(/^client-1 (created|unchanged)\n[0-9a-f-]{36} call\n$/);
  });

  it("a CommonJS project compiles with TypeScript's node16, and requires the one client that others import", async () => {
    mkdirSync(join(folder, "commonjs"), { recursive: true });
    writeFileSync(join(folder, "commonjs/package.json"), JSON.stringify({ private: true, type: "commonjs" }));
    writeFileSync(join(folder, "commonjs/use.ts"), COMMON_JS);
    const options = { module: "node16", types: ["node"], strict: true, skipLibCheck: false };
    writeFileSync(join(folder, "commonjs/tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    await run(process.execPath, [TSC, "-p", "commonjs"]);
    expect(readFileSync(join(folder, "commonjs/use.js"), "utf8")).toContain('require("work-items-client")');
    expect(await run(node, ["commonjs/use.js"])).toBe("common-js\ncall\ntrue true\n401\n");
  });

  it("the command imports a file of another system, and a workbook's mapping is proposed", async () => {
    writeFileSync(join(folder, "tickets.csv"), `external_id,type\ncommand-${version},call\n`);
    const imported = await run(node, [program, "import", "tickets.csv", "--yes", "--wait"]);
    expect(imported).toMatch(/completed: 1 row, 1 created/);
    expect(await run(node, [program, "get", `command-${version}`])).toContain('"type": "call"');
    writeFileSync(join(folder, "foreign.csv"), "Ticket ID,Status,Closed\nT-1,Open,\nT-2,Closed,2026-01-31 10:00\n");
    await run(node, [program, "import", "foreign.csv", "--propose", `${version}.json`, "--time-zone", "UTC"]);
    expect(JSON.parse(readFileSync(join(folder, `${version}.json`), "utf8"))).toMatchObject({
      fields: { external_id: { column: "Ticket ID" } },
    });
  });

  it("the command imports by a mapping, applies JSON, and keeps every digit of a number", async () => {
    const amount = { column: "Amount", as: "number" };
    const fields = {
      external_id: { column: "Ticket ID" },
      type: { value: "ticket" },
      "custom_attributes.amount": amount,
    };
    const mapping = { fields };
    writeFileSync(join(folder, "mapping.json"), JSON.stringify(mapping));
    writeFileSync(join(folder, "amounts.csv"), `Ticket ID,Amount\nmapped-${version},1.10\n`);
    const byMapping = [program, "import", "amounts.csv", "--mapping", "mapping.json", "--yes", "--wait"];
    const trial = await execute(node, [...byMapping, "--dry-run"], { cwd: folder, env: variables() });
    expect(trial.stdout + trial.stderr).not.toMatch(/Error|is not a function/);
    expect(await run(node, byMapping)).toMatch(/completed: 1 row, 1 created/);

    const item = `{"external_id":"digits-${version}","type":"call","custom_attributes":{"amount":1.10}}`;
    writeFileSync(join(folder, "items.jsonl"), `{"external_id":"whole-${version}","type":"call"}\n${item}\n`);
    await run(node, [program, "batch", "items.jsonl"]);
    for (const name of ["mapped", "digits"])
      expect(await run(node, [program, "get", `${name}-${version}`])).toContain('"amount": 1.10');
    const changes = await run(node, [program, "changes"]);
    expect(changes).toMatch(new RegExp(`"external_id":"digits-${version}".*"amount":1.10[,}]`));
  });

  it("a defect of the command is one line, without its code", async () => {
    writeFileSync(join(folder, "defect.cjs"), 'JSON.stringify = () => { throw new RangeError("one\\ntwo"); };');
    const failed = execute(node, ["--require", "./defect.cjs", program, "changes"], { cwd: folder, env: variables() });
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: "work-items: RangeError: one\\u000atwo\n" });
  });
});

it("the command runs by npx, without being installed, and imports another system's file by the page's lines", async () => {
  const [help = ""] = codeOf("console", /--help/).split("\n");
  expect(await run("bash", ["-ec", help])).toMatch(/Usage: work-items/);
  writeFileSync(join(folder, "tickets.csv"), "Ticket ID,Status,Type\nN-1,Open,ticket\nN-2,Closed,ticket\n");
  expect(await run("bash", ["-ec", codeOf("console", /--propose/)])).toMatch(/completed: 2 rows, 2 created/);
});
