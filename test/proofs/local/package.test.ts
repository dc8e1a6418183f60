import { execFile } from "node:child_process";
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Marked, type Tokens } from "marked";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import { readTopics } from "../../../apps/pages/docs/documents.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";

const PACKAGE = join(PROJECT_ROOT, "apps/client");
const scratch = mkdtempSync(join(tmpdir(), "scratch-project-"));
let stack: TestService;
beforeAll(async () => {
  stack = await startTestService();
});
afterAll(async () => {
  await stack?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const execute = promisify(execFile);
const run = async (command: string, args: string[], cwd: string, variables: Record<string, string> = {}) =>
  (await execute(command, args, { cwd, env: { ...process.env, ...variables } })).stdout;

/** A project that has the packed client and its dependency, and nothing of ours. */
const installClient = async (): Promise<void> => {
  const installed = join(scratch, "node_modules/work-items-client");
  mkdirSync(installed, { recursive: true });
  await run("npm", ["pack", PACKAGE, "--pack-destination", scratch], PROJECT_ROOT);
  const tarball = readdirSync(scratch).find((name) => name.endsWith(".tgz")) ?? "";
  await run("tar", ["xzf", tarball, "-C", installed, "--strip-components", "1"], scratch);
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"]) {
    symlinkSync(join(PROJECT_ROOT, "node_modules", name), join(scratch, "node_modules", name));
  }
  writeFileSync(join(scratch, "package.json"), JSON.stringify({ type: "module" }));
};

/** The code blocks of the client's page, by their languages. */
const blocksOf = (markdown: string, language: string): string[] =>
  new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Code => token.type === "code" && token["lang"] === language)
    .map(({ text }) => text);

const PROGRAM = `
import { createClient, inputOf, type WorkItemInput } from "work-items-client";

const { BASE_URL = "", API_KEY = "" } = process.env;
const { workItems, uploads } = createClient({ baseUrl: BASE_URL, apiKey: API_KEY });
const count = async (entries: AsyncIterable<unknown>) => {
  let all = 0;
  for await (const _ of entries) all += 1;
  return all;
};

const tickets = Array.from({ length: 5000 }, (_, n): WorkItemInput => ({ external_id: \`T-\${n}\`, type: "ticket" }));
const created = await count(workItems.apply(tickets));
const changes: WorkItemInput[] = [];
for await (const item of workItems.list({ type: "ticket", limit: 10 })) {
  if (changes.push({ ...inputOf(item), status: "completed" }) === 10) break;
}
for await (const { status } of workItems.apply(changes)) if (status !== "updated") throw new Error(status);
const listed = await count(workItems.list());
const completed = await count(workItems.list({ status: "completed" }));
const upload = await uploads.upload("external_id,status\\nT-1,cancelled\\nT-2,nonsense\\n");
const job = await upload.wait();
const failed: string[] = [];
for await (const { row, error } of upload.failedRows()) failed.push(\`\${row} \${error}\`);
console.log(JSON.stringify({ created, listed, completed, status: job.status, failed }));
`;

it("is packed and used by a project that has nothing else: 5,000 tickets, 10 changes, a list and a file", async () => {
  await installClient();
  const installed = join(scratch, "node_modules/work-items-client");
  const files = readdirSync(installed, { recursive: true }).map(String);
  expect(files).toEqual(
    expect.arrayContaining(["dist/apps/client/client.js", "dist/apps/client/client.d.ts", "README.md", "package.json"]),
  );
  expect(files.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { dependencies: object };
  expect(Object.keys(manifest.dependencies)).toEqual(["openapi-fetch"]);

  expect(PROGRAM.trim().split("\n").length).toBeLessThan(40);
  writeFileSync(join(scratch, "program.ts"), PROGRAM);
  const options = ["--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom,dom.iterable,dom.asynciterable"];
  const strict = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--types",
    "node",
    "--typeRoots",
    join(PROJECT_ROOT, "node_modules/@types"),
  ];
  await run(join(PROJECT_ROOT, "node_modules/.bin/tsc"), [...options, ...strict, "program.ts"], scratch);
  const printed = await run(process.execPath, ["program.js"], scratch, {
    BASE_URL: stack.baseUrl,
    API_KEY: stack.apiKey,
  });
  expect(JSON.parse(printed)).toEqual({
    created: 5000,
    listed: 5000,
    completed: 10,
    status: "completed",
    failed: [expect.stringMatching(/^3 .*status/)],
  });
});

it("is installed as its page says, in an empty folder, and runs the program there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "empty-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { markdown } = readTopics().find(({ name }) => name === "typescript-client")!;
  const [install = "", start = ""] = blocksOf(markdown, "console");
  const [clone, dependencies, ...commands] = install.split("\n");
  expect([clone, dependencies]).toEqual(['git clone "$REPOSITORY" work-items', "npm ci --prefix work-items"]);
  // This checkout, whose packages are installed, stands for the clone.
  symlinkSync(PROJECT_ROOT, join(folder, "work-items"));
  const quietly = { npm_config_audit: "false", npm_config_fund: "false", npm_config_prefer_offline: "true" };
  for (const command of commands) await run("bash", ["-c", command], folder, quietly);
  const [program = ""] = blocksOf(markdown, "js");
  writeFileSync(join(folder, "first.mjs"), program);
  const [variables, command = ""] = start.split("\n");
  expect(variables).toMatch(/^export BASE_URL=\S+ API_KEY=wi_us_/);
  const printed = await run("bash", ["-c", command], folder, { BASE_URL: stack.baseUrl, API_KEY: stack.apiKey });
  expect(printed).toMatch(/^client-1 created\n[0-9a-f-]{36} call\n$/);
});

it("has a command beside it, installed as the page about exports says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "empty-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { markdown } = readTopics().find(({ name }) => name === "from-an-export")!;
  const [install = ""] = blocksOf(markdown, "console");
  symlinkSync(PROJECT_ROOT, join(folder, "work-items"));
  const [, dependencies, ...commands] = install.split("\n");
  expect(dependencies).toBe("npm ci --prefix work-items");
  for (const command of commands) await run("bash", ["-c", command], folder);
  const variables = { WORK_ITEMS_URL: stack.baseUrl, WORK_ITEMS_KEY: stack.apiKey };
  writeFileSync(join(folder, "export.csv"), "external_id,type\ncommand-1,call\n");
  const printed = await run(
    process.execPath,
    ["work-items.cjs", "import", "export.csv", "--yes", "--wait"],
    folder,
    variables,
  );
  expect(printed).toMatch(/completed: 1 rows, 1 created/);
});
