import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { workItemId } from "../../../lib/identity.ts";
import { regionCodeSchema } from "../../../lib/regions.ts";
import { type Check, Difference, type Run } from "./smoke/check.ts";
import { createSend, textOf } from "./smoke/client.ts";
import { dataChecks } from "./smoke/data-checks.ts";
import { edgeChecks, limitCheck } from "./smoke/edge-checks.ts";
import { runCommand, UsageError } from "./administration.ts";

const USAGE = `usage: npm run smoke -- --url https://… --key wi_us_… [--organization smoke-1] [--json]
It writes to that organization. Make it first: npm run keys -- create --organization smoke-1 --stage prod --region us`;

/** What the name of the organization begins with, and the external_ids of all runs. */
const PREFIX = "smoke-";
const ORGANIZATION_DEFAULT = `${PREFIX}1`;

const perform = async ({ name, run: check }: Check, run: Run) => {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  try {
    return { check: name, ok: true, seen: await check(run), milliseconds: took() };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason =
      error instanceof Difference ? message : `${message}${cause instanceof Error ? `: ${cause.message}` : ""}`;
    return { check: name, ok: false, seen: reason, milliseconds: took() };
  }
};

type Outcome = Awaited<ReturnType<typeof perform>>;

/** Checks that the address is that of the key's region, and the key that of the organization. @throws UsageError */
const assertRightPlace = async ({ url, key, send, prefix }: Run, organization: string): Promise<void> => {
  const [, region] = /^wi_([a-z]{2})_\w{38}$/.exec(key) ?? [];
  if (region === undefined || !regionCodeSchema.safeParse(region).success) throw new UsageError("--key: is no API key");
  if (!organization.startsWith(PREFIX)) throw new UsageError(`--organization: its name must begin with ${PREFIX}`);
  const health = await send("/v1/health", { key: null }).catch((error: unknown) => {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new UsageError(`${url} does not respond: ${reason}`.replaceAll(/\s+/g, " ").trim());
  });
  const served = health.body?.["region"] as unknown;
  if (health.status !== 200 || typeof served !== "string") {
    throw new UsageError(`${url}/v1/health is ${health.status}: ${health.text.slice(0, 200)}`);
  }
  if (served !== region) throw new UsageError(`${url} serves the region ${served}, and the key is of ${region}`);
  // Ids follow from the organization's name and the external_id, and a dry run tells them.
  const json = { dry_run: true, work_items: [{ external_id: prefix }] };
  const preview = await send("/v1/work_items/batch", { method: "POST", json });
  if (preview.status !== 200) throw new UsageError(`a dry run is ${preview.status}: ${preview.text.slice(0, 200)}`);
  const id = textOf(preview.body?.["data"]?.["results"]?.[0]?.["data"]?.["id"]);
  if (id !== workItemId(organization, prefix)) {
    throw new UsageError(
      `the key is not one of organization ${organization}; nothing was written. Name its own: --organization ${PREFIX}…`,
    );
  }
};

const tableOf = (outcomes: readonly Outcome[]): string => {
  const width = Math.max(...outcomes.map(({ check }) => check.length));
  return outcomes
    .map(({ check, ok, seen, milliseconds }) => {
      const result = ok ? (seen.startsWith("skipped") ? "—" : "ok") : "DIFFERS";
      return `${check.padEnd(width)}  ${result.padEnd(7)}  ${String(milliseconds).padStart(6)} ms  ${seen}`;
    })
    .join("\n");
};

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      key: { type: "string" },
      organization: { type: "string", default: ORGANIZATION_DEFAULT },
      json: { type: "boolean", default: false },
    },
  });
  if (values.url === undefined || values.key === undefined || !URL.canParse(values.url)) throw new UsageError(USAGE);
  const url = values.url.replace(/\/+$/, "");
  const { key, json, organization } = values;
  const send = createSend(url, key);
  const run: Run = { url, key, send, prefix: `${PREFIX}${randomBytes(4).toString("hex")}-` };
  await assertRightPlace(run, organization);
  const outcomes: Outcome[] = [];
  for (const check of [...edgeChecks, ...dataChecks, limitCheck]) outcomes.push(await perform(check, run));
  const differing = outcomes.filter(({ ok }) => !ok).length;
  if (differing > 0) process.exitCode = 1;
  if (json) return JSON.stringify({ url, prefix: run.prefix, differing, checks: outcomes });
  return [
    tableOf(outcomes),
    differing === 0 ? "everything is as documented" : `${differing} of ${outcomes.length} checks differ`,
    `What it wrote is gone with the organization: npm run organizations -- erase ${organization}`,
  ].join("\n");
});
