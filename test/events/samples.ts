import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "aws-lambda";
import { readEvent } from "../../infra/local/invoke-event.ts";
import { createTestOrganization, lambdaContext } from "../support/organization.ts";
import type { TestRuntime } from "../support/runtime.ts";

const DIRECTORY = fileURLToPath(new URL("../../events/", import.meta.url));
/** More than the workers keep for handing over. */
const REMAINING_MS = 120_000;

/** Names of all files in `events/`: `<function>[.<variant>][.<what comes of it>].json`, here without `.json`. */
export const allSamples: readonly string[] = readdirSync(DIRECTORY).map((file) => file.replace(/\.json$/, ""));

export const functionOf = (sample: string): string => sample.split(".", 1)[0] ?? "";

/** What the name promises: a status, `error`, `failure` or `dropped`; undefined where all goes well. */
export const refusalOf = (sample: string): string | undefined => /\.(\d{3}|error|failure|dropped)$/.exec(sample)?.[1];

export const eventOf = (sample: string, key?: string): unknown =>
  JSON.parse(readEvent(`${DIRECTORY}${sample}.json`, key));

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/**
 * Sends samples one after the other, each through its function as it is deployed, with the key of an organization `demo`.
 * @returns what came of each
 */
export const sendSamples = async (
  runtime: TestRuntime,
  samples: readonly string[],
): Promise<ReadonlyMap<string, PromiseSettledResult<unknown>>> => {
  const { key } = await createTestOrganization(runtime, { id: "demo" });
  const outcomes = new Map<string, PromiseSettledResult<unknown>>();
  const send = async (sample: string): Promise<unknown> => {
    const { create } = (await import(`../../functions/${functionOf(sample)}.ts`)) as {
      create: (runtime: TestRuntime) => Handler;
    };
    return create(runtime)(eventOf(sample, key), lambdaContext(REMAINING_MS));
  };
  for (const sample of samples) {
    const [outcome] = await Promise.allSettled([send(sample)]);
    outcomes.set(sample, outcome);
  }
  return outcomes;
};
