import { randomBytes } from "node:crypto";
import { workItemId } from "@work-items/lib/identity.ts";
import { eraseItem } from "../data/erase-item.ts";
import { operatorRuntime } from "./operator-runtime.ts";
import { open } from "./stack-variables.ts";
import { isApiKeyOf } from "@work-items/lib/organizations/api-key.ts";
import { regionCodes } from "@work-items/lib/regions.ts";
import { type Check, Difference, type Run } from "./smoke/check.ts";
import { createSend, textOf } from "./smoke/http-client.ts";
import { dataChecks } from "./smoke/data-checks.ts";
import { edgeChecks } from "./smoke/edge-checks.ts";
import { flowChecks } from "./smoke/flow-checks.ts";
import { createCommandLine, UsageError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { printResult, type Result, runOperatorCommand, type Target, withTarget } from "./target-tables.ts";

/** What the name of the organization begins with, and the external_ids of all runs. */
const PREFIX = "smoke-";
const ORGANIZATION_DEFAULT = `${PREFIX}1`;

async function perform({ name, run: check }: Check, run: Run) {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  try {
    return { check: name, ok: true, seen: await check(run), milliseconds: took() };
  } catch (error) {
    const reason = error instanceof Difference ? error.message : plainReason(error);
    return { check: name, ok: false, seen: reason, milliseconds: took() };
  }
}

type Outcome = Awaited<ReturnType<typeof perform>>;

/** Checks that the address is that of the key's region, and the key that of the organization. @throws UsageError */
async function assertRightPlace({ url, key, send, prefix }: Run, organization: string): Promise<void> {
  const region = regionCodes.find((code) => isApiKeyOf(code, key));
  if (region === undefined) throw new UsageError("--key: isn't a whole API key");
  if (!organization.startsWith(PREFIX)) throw new UsageError(`--organization: its name must begin with ${PREFIX}`);
  const health = await send("/v1/health", { key: null }).catch((error: unknown) => {
    throw new UsageError(`${url} does not respond: ${plainReason(error)}`);
  });
  const served = health.body?.["region"] as unknown;
  if (health.status !== 200 || typeof served !== "string") {
    throw new UsageError(`${url}/v1/health is ${health.status}: ${health.text.slice(0, 200)}`);
  }
  if (served !== region) throw new UsageError(`${url} serves the region ${served}, but the key is for ${region}`);
  // Ids follow from the organization's name and the external_id, and a dry run returns them.
  const json = { dry_run: true, work_items: [{ external_id: prefix }] };
  const preview = await send("/v1/work_items/batch", { method: "POST", json });
  if (preview.status !== 200) throw new UsageError(`a dry run is ${preview.status}: ${preview.text.slice(0, 200)}`);
  const id = textOf(preview.body?.["data"]?.["results"]?.[0]?.["data"]?.["id"]);
  if (id !== workItemId(organization, prefix)) {
    throw new UsageError(
      `the key is not one of organization ${organization}; nothing was written. Name its own: --organization ${PREFIX}…`,
    );
  }
}

function tableOf(outcomes: readonly Outcome[]): string {
  const width = Math.max(...outcomes.map(({ check }) => check.length));
  return outcomes
    .map(({ check, ok, seen, milliseconds }) => {
      const done = seen.startsWith("skipped") ? "—" : "ok";
      const result = ok ? done : "DIFFERS";
      return `${check.padEnd(width)}  ${result.padEnd(7)}  ${String(milliseconds).padStart(6)} ms  ${seen}`;
    })
    .join("\n");
}

interface SmokeOptions extends Target {
  readonly url: string;
  readonly key: string;
  readonly organization: string;
  readonly receiver?: string;
}

/** Erases an item of the organization, if the service's tables are known. */
async function eraserOf(terminal: Terminal, { url, organization, ...target }: SmokeOptions): Promise<Run["erase"]> {
  const { env, sleep } = terminal;
  const isNamed = (target.stage ?? target.table ?? env["ACCESS_TABLE"]) !== undefined;
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
  if (!isNamed && !isLocal) return undefined;
  const runtime = operatorRuntime(await open(terminal, target));
  return (externalId) => eraseItem(runtime, organization, externalId, { sleep });
}

async function smoke(terminal: Terminal, options: SmokeOptions): Promise<Result> {
  const { url: address, key, organization, receiver } = options;
  if (!URL.canParse(address)) throw new UsageError("--url: must be an address such as https://…");
  const url = address.replace(/\/+$/, "");
  const { sleep, clock } = terminal;
  const send = createSend(url, key, sleep);
  const erase = await eraserOf(terminal, options);
  const prefix = `${PREFIX}${randomBytes(4).toString("hex")}-`;
  const run: Run = { url, key, send, sleep, clock, prefix, receiver, erase };
  await assertRightPlace(run, organization);
  const outcomes: Outcome[] = [];
  for (const check of [...edgeChecks, ...dataChecks, ...flowChecks]) outcomes.push(await perform(check, run));
  const differing = outcomes.filter(({ ok }) => !ok).length;
  if (differing > 0) terminal.exitCode = 1;
  const lines = [
    tableOf(outcomes),
    differing === 0 ? "everything is as documented" : `${differing} of ${outcomes.length} checks differ`,
    `To delete the test data, erase the organization: npm run organizations -- erase ${organization}`,
  ];
  return [{ url, prefix: run.prefix, differing, checks: outcomes }, lines.join("\n")];
}

/** `npm run smoke`. @returns the exit status */
export function smokeCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run smoke --",
    "Check that a deployed service does what its document says",
  );
  withTarget(program)
    .requiredOption("--url <url>", "address of the service")
    .requiredOption("--key <key>", "API key of the organization")
    .option("--organization <id>", "organization to write to", ORGANIZATION_DEFAULT)
    .option("--receiver <url>", "an https receiver that answers messages of webhooks with a 2xx")
    .addHelpText(
      "after",
      `\nMake the organization first: npm run keys -- create --organization ${ORGANIZATION_DEFAULT} --create --stage prod --region us`,
    )
    .action(async (options: SmokeOptions) => printResult(terminal, options, await smoke(terminal, options)));
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(smokeCommand);
