import * as z from "zod";
import { nearestTo } from "../../lib/nearest.ts";
import { type RegionCode, regionCodes, stackIdOf } from "../../lib/regions.ts";
import { describeProblems } from "../../lib/errors.ts";
import { CommandError } from "../terminal/command-line.ts";
import { readEnvironmentFile, type Variables } from "../terminal/environment-file.ts";
import { regionSettingsOf, stagesSchema, type StageSettings } from "./stage-settings.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "../build.ts";

/** CDK context: values by name, from `-c name=value` and cdk.json. */
export type Context = Readonly<Record<string, unknown>>;

/** The context in cdk.json. The CDK's command line passes it to the app; other callers must read it here. */
export function projectContext(): Context {
  return (JSON.parse(readFileSync(join(PROJECT_ROOT, "cdk.json"), "utf8")) as { context: Context }).context;
}

/** The `-c name=value` options of a command line; all its other arguments are ignored. */
export function contextOf(commandArguments: readonly string[]): Context {
  const { values } = parseArgs({
    args: [...commandArguments],
    strict: false,
    options: { context: { type: "string", short: "c", multiple: true } },
  });
  const pairs = (values.context ?? []).map(String);
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)));
}

/** The file that holds the settings of all stages. */
export const STAGES_FILE = "infra/stages.ts";
/** The stage if none is named, and that of the template that sam and LocalStack run. */
export const DEFAULT_STAGE = "dev";

/** A setting isn't valid. The message says in one line what to do. */
export class SettingsError extends CommandError {}

/**
 * Name of a region's stack in CloudFormation; its functions' names start with it. It contains every stage but dev, so
 * that deploying one stage never updates another's stack.
 */
export function stackNameOf(region: RegionCode, stage: string): string {
  return stage === DEFAULT_STAGE ? stackIdOf(region) : `${stackIdOf(region)}-${stage}`;
}

/** Lambda reserves all but the last two and rejects templates that set them. The last two are for callers. */
const RESERVED_VARIABLES =
  /^(AWS_REGION|AWS_DEFAULT_REGION|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|LAMBDA_TASK_ROOT|API_KEY|BASE_URL)$/;

function environmentOf(file: string | undefined, stage: string): Variables {
  if (file === undefined) return {};
  if (stage !== DEFAULT_STAGE) {
    throw new SettingsError(
      `-c environment=${file}: is for functions that run outside AWS, which only stage ${DEFAULT_STAGE} does; leave it out`,
    );
  }
  const variables = Object.entries(readEnvironmentFile(file)).filter(([name]) => !RESERVED_VARIABLES.test(name));
  if (!variables.some(([name]) => name.startsWith("AWS_ENDPOINT_URL"))) {
    throw new SettingsError(
      `-c environment=${file}: must be a file with AWS_ENDPOINT_URL=<URL> lines, such as the .local/stack.env of npm start`,
    );
  }
  return Object.fromEntries(variables);
}

/** What `-c name=value` takes. */
const contextSchema = z.object({
  stage: z.string().default(DEFAULT_STAGE),
  region: z.string().optional(),
  environment: z.string().optional(),
});

/** The CDK's own context names contain a colon or a slash; ours don't. */
function isCdkContext(name: string): boolean {
  return /[:/]/.test(name);
}

function parseContext(given: Context): z.output<typeof contextSchema> {
  const names = Object.keys(contextSchema.shape);
  const unknown = Object.keys(given).filter((name) => !isCdkContext(name) && !names.includes(name));
  if (unknown.length > 0) {
    const guesses = unknown.map((name) => nearestTo(name, names));
    throw new SettingsError(
      `-c ${unknown.join(", ")}: there is no such option; did you mean ${guesses.join(", ")}? ` +
        `The settings of a stage are in ${STAGES_FILE}`,
    );
  }
  return contextSchema.parse(given);
}

/** Checks a name. @throws SettingsError that suggests the most similar one */
function choose<N extends string>(option: string, name: string, names: readonly N[]): N {
  const found = names.find((choice) => choice === name);
  if (found !== undefined) return found;
  throw new SettingsError(
    `-c ${option}=${name}: there is no such ${option}; did you mean ${nearestTo(name, names)}? There are ${names.join(", ")}`,
  );
}

/**
 * Chooses the settings to synthesize: the regions of one stage, and environment variables of all functions for sam and
 * LocalStack, which run them instead of AWS.
 * @param given the whole context, by name; the CDK's own values in it are ignored
 * @throws SettingsError
 */
export function parseSettings(given: Context, stages: Readonly<Record<string, StageSettings>>) {
  const context = parseContext(given);
  const parsed = stagesSchema.safeParse(stages);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({
      path,
      code: "invalid" as const,
      message: message.endsWith("received undefined") ? "is required" : message,
    }));
    throw new SettingsError(`${STAGES_FILE}: ${describeProblems(problems, "stages")}`);
  }
  const stage = choose("stage", context.stage, Object.keys(parsed.data));
  const settings = parsed.data[stage] ?? { regions: {} };
  const deployed = regionCodes.filter((code) => settings.regions[code] !== undefined);
  const chosen = context.region === undefined ? deployed : [choose("region", context.region, regionCodes)];
  const regions = chosen.map((code) => {
    const own = regionSettingsOf(stage, settings, code);
    if (own?.smallAccount === true && Object.keys(own.concurrency).length > 0) {
      throw new SettingsError(
        `${STAGES_FILE}: stages.${stage}: leave out concurrency or smallAccount; an account with 10 concurrent executions can't reserve any`,
      );
    }
    if (own !== undefined) return [code, own] as const;
    throw new SettingsError(`-c region=${code}: stage ${stage} is not deployed there; add it in ${STAGES_FILE}`);
  });
  return { stage, regions: new Map(regions), environment: environmentOf(context.environment, stage) };
}
