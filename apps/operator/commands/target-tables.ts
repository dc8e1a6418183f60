import type { Command } from "commander";
import { createDynamoDbClient } from "@work-items/lib/aws/dynamodb-client.ts";
import type { Clock } from "@work-items/lib/clock.ts";
import { NotFoundError, WorkItemsError } from "@work-items/lib/errors.ts";
import { nearestTo } from "@work-items/lib/nearest.ts";
import { type Administration, listOrganizations } from "../data/administration.ts";
import { readOrganization } from "../data/damaged-access.ts";
import { organizationIdSchema } from "@work-items/lib/organizations/organization.ts";
import { type RegionCode, regionCodes, regionCodesInWords, regionCodeSchema } from "@work-items/lib/regions.ts";
import { MalformedRecordError, type OnDamaged } from "@work-items/lib/store/decode-record.ts";
import { CommandError, runCommand, UsageError } from "@work-items/terminal/command-line.ts";
import { localFiles, readEnvironmentFile } from "@work-items/terminal/environment-file.ts";
import { meaningOf } from "@work-items/terminal/plain-reason.ts";
import { awsRegionOf } from "../../../infra/settings/stage-settings.ts";
import { stages } from "../../../infra/stages.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";

export type Variables = Readonly<NodeJS.Dict<string>>;

/** The tables to work on. Options win over environment variables, which win over the local service's file. */
export interface Target {
  readonly table?: string;
  readonly itemsTable?: string;
  readonly region?: string;
  readonly stage?: string;
  readonly json?: boolean;
}

/** Adds the options that every command on tables takes. */
export function withTarget(command: Command): Command {
  return command
    .option("--stage <stage>", "a deployed service (default: the local one)")
    .option("--region <region>", `its region, ${regionCodesInWords}`)
    .option("--table <name>", "the Access table, instead of --stage")
    .option("--items-table <name>", "the WorkItems table, such as a restored one")
    .option("--json", "print the result as JSON");
}

function localVariables(variables: Variables): Variables {
  const file = localFiles(variables).stack;
  const local = readEnvironmentFile(file);
  if (Object.keys(local).length > 0) return local;
  throw new UsageError(
    `which service? Start the local one with npm start (it writes ${file}), ` +
      `or name a deployed one: --stage prod --region ${regionCodesInWords}`,
  );
}

/** Checks the code of a region. @throws UsageError with the nearest one that exists */
export function regionCode(value: string | undefined): RegionCode {
  const parsed = regionCodeSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const guess = value === undefined ? "" : `: there is no ${value}; did you mean ${nearestTo(value, regionCodes)}?`;
  throw new UsageError(`name the region: --region ${regionCodesInWords} (or REGION_CODE)${guess}`);
}

/** Options of an SDK client. If the variables have no credentials, the SDK finds some itself. */
export function clientOptions(variables: Variables, endpoint: string | undefined) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = variables;
  const hasKey = accessKeyId !== undefined && secretAccessKey !== undefined;
  const credentials = hasKey && { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  return { maxAttempts: 3, ...(endpoint !== undefined && { endpoint }), ...(credentials && { credentials }) };
}

/** Where a region's stack is. @param stage none if tables are named, not a stage */
export function awsRegionIn(stage: string | undefined, region: RegionCode): string {
  return awsRegionOf(region, stage === undefined ? undefined : stages[stage]);
}

/** A client for the tables in an AWS region. @param all variables with endpoints and credentials */
export function tablesIn(awsRegion: string, all: Variables) {
  const endpoint = all["AWS_ENDPOINT_URL_DYNAMODB"] ?? all["AWS_ENDPOINT_URL"];
  return createDynamoDbClient({}, { ...clientOptions(all, endpoint), region: awsRegion });
}

/** What a command works on. */
export interface OpenedAdministration extends Administration {
  readonly awsRegion: string;
  /**
   * Names of tables and bucket, and endpoints, as functions get them. Those of other resources may be missing.
   * `OWN_ITEMS_TABLE` is the service's table of work items, also if the command works on another one.
   */
  readonly variables: Variables;
}

/**
 * Opens the tables that a command works on.
 * @throws UsageError if neither the options nor the environment nor a local service name the Access table
 */
export function openAdministration(
  target: Target,
  variables: Variables,
  clock: Clock = Date.now,
): OpenedAdministration {
  const named = target.table ?? variables["ACCESS_TABLE"];
  const all: Variables = named === undefined ? { ...localVariables(variables), ...variables } : variables;
  const table = named ?? all["ACCESS_TABLE"];
  if (table === undefined) throw new UsageError("name the table: --table <Access table> (or ACCESS_TABLE)");
  const region = regionCode(target.region ?? all["REGION_CODE"]);
  const found = awsRegionIn(target.stage, region);
  const awsRegion = target.region === undefined ? (all["AWS_REGION"] ?? found) : found;
  return {
    dynamodb: tablesIn(awsRegion, all),
    awsRegion,
    environment: { ACCESS_TABLE: table },
    clock,
    region,
    variables: {
      ...all,
      OWN_ITEMS_TABLE: all["WORK_ITEMS_TABLE"],
      WORK_ITEMS_TABLE: target.itemsTable ?? all["WORK_ITEMS_TABLE"],
    },
  };
}

/** Checks an organization's id. @throws UsageError */
export function organizationId(value: string): string {
  const parsed = organizationIdSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`organization: ${parsed.error.issues[0]?.message ?? "is not valid"}`);
}

/**
 * Checks that an organization exists.
 * @param onDamaged called if its record can't be read
 * @param advice end of the message
 * @throws UsageError with the nearest one that exists
 */
export async function assertOrganization(
  administration: Administration,
  id: string,
  onDamaged: OnDamaged,
  advice = "",
): Promise<void> {
  try {
    await readOrganization(administration, id, onDamaged);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const others = (await listOrganizations(administration, () => undefined)).map(({ organization }) => organization);
    const nearest = nearestTo(id, others);
    const hint = nearest === undefined ? ";" : `; did you mean ${nearest}?`;
    throw new UsageError(`${error.message}${hint} ${advice}`.replace(/;? *$/, ""));
  }
}

/** What a command results in: data for `--json`, and lines for people. */
export type Result = readonly [data: object, lines: string];

export function printResult(terminal: Terminal, { json }: Target, [data, lines]: Result): void {
  if (json === true) terminal.printData(JSON.stringify(data));
  else terminal.printLines(lines);
}

/** What each terminal has named. */
const namedOn = new WeakMap<Terminal, Set<string>>();

/**
 * What a command does with records that can't be read: it names each once, continues with the others, and ends with
 * status 1.
 */
export function nameDamaged(terminal: Terminal): OnDamaged {
  const named = namedOn.get(terminal) ?? new Set<string>();
  namedOn.set(terminal, named);
  return (damaged) => {
    const { message } = damaged;
    terminal.exitCode = 1;
    if (!named.has(message)) terminal.noteLines(describeDamaged(damaged));
    named.add(message);
  };
}

/** What `organizations repair` can repair. */
const REPAIRABLE = ["organization", "API key"];

function describeDamaged({ kind, message }: MalformedRecordError): string {
  return `can't read a record: ${message}${REPAIRABLE.includes(kind) ? "; repair it: npm run organizations -- repair" : ""}`;
}

/** The line for an error. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = error instanceof CommandError || error instanceof WorkItemsError;
  if (isExpected) return error.message;
  if (error instanceof MalformedRecordError) return describeDamaged(error);
  const codes = [error, error.cause].map((each) => (each as NodeJS.ErrnoException | undefined)?.code);
  if (codes.includes("ECONNREFUSED")) return "DynamoDB isn't responding there: is the local service running?";
  const meaning = meaningOf(error);
  if (meaning !== undefined) return `can't call AWS: ${meaning}`;
  return `${error.name}: ${error.message}`.replaceAll(/\s*\n\s*/g, " ");
}

/** Runs the command line that a terminal has; any error is printed in one line. @returns the exit status */
export function runOperatorCommand(terminal: Terminal, command: Command): Promise<number> {
  return runCommand(terminal, command, describeError);
}
