import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "aws-lambda";
import { readEvent } from "../../apps/local/invoke-event.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import type { TestRuntime } from "../support/runtime.ts";

const DIRECTORY = fileURLToPath(new URL("../../events/", import.meta.url));
/** Longer than the time that workers reserve for the hand-over. */
const REMAINING_MS = 120_000;

/** Names of all files in `events/`, without `.json`: `<function>[.<variant>][.<outcome>]`. */
export const allSamples: readonly string[] = readdirSync(DIRECTORY).map((file) => file.replace(/\.json$/, ""));

/** Name of the function that takes a sample. */
export const functionOf = (sample: string): string => sample.split(".", 1)[0] ?? "";

/** The expected outcome in a sample's name: a status, `error`, `failure` or `dropped`; undefined for success. */
export const refusalOf = (sample: string): string | undefined => /\.(\d{3}|error|failure|dropped)$/.exec(sample)?.[1];

/** The event in a sample. @param key replaces the placeholder of the API key */
export const eventOf = (sample: string, key?: string): unknown =>
  JSON.parse(readEvent(`${DIRECTORY}${sample}.json`, key));

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/**
 * Sends samples one after the other to their functions, with an API key of the organization `demo`.
 * @returns the outcomes by sample
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
