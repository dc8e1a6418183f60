import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { NotFoundError, WorkItemsError } from "../../../lib/errors.ts";
import { nearestTo } from "../../../lib/nearest.ts";
import { type Administration, getOrganization, listOrganizations } from "../../../lib/operator/administration.ts";
import { organizationIdSchema, type OrganizationRecord } from "../../../lib/organizations/organization.ts";
import { REGIONS, type RegionCode, regionCodes, regionCodesInWords, regionCodeSchema } from "../../../lib/regions.ts";

/** The command line is not valid. The message says in one line what to do. */
export class UsageError extends Error {}

/** Options that every command takes. */
export const commonOptions = {
  table: { type: "string" },
  "items-table": { type: "string" },
  region: { type: "string" },
  stage: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** The tables to work on. Options win over environment variables, and those over the local stack's file. */
export interface Target {
  readonly table?: string | undefined;
  readonly "items-table"?: string | undefined;
  readonly region?: string | undefined;
}

/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

const localVariables = (variables: Variables): Variables => {
  const file = join(variables["DATA_DIR"] ?? ".local", "env");
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch {
    throw new UsageError(
      `which service? Start the local one with npm start (it writes ${file}), or name a deployed one: --stage prod --region ${regionCodesInWords}`,
    );
  }
};

/** Checks the code of a region. @throws UsageError with the nearest one that exists */
export const regionCode = (value: string | undefined): RegionCode => {
  const parsed = regionCodeSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const guess = value === undefined ? "" : `: there is no ${value}; did you mean ${nearestTo(value, regionCodes)}?`;
  throw new UsageError(`name the region: --region ${regionCodesInWords} (or REGION_CODE)${guess}`);
};

/** Options of an SDK client with the credentials of these variables, or with those that the SDK finds by itself. */
export const clientOptions = (variables: Variables, endpoint: string | undefined) => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = variables;
  const hasKey = accessKeyId !== undefined && secretAccessKey !== undefined;
  const credentials = hasKey && { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  return { maxAttempts: 3, ...(endpoint !== undefined && { endpoint }), ...(credentials && { credentials }) };
};

/** What a command works on. */
export interface OpenedAdministration extends Administration {
  /** Names of tables and bucket, and endpoints, as functions get them. Those of other resources may be missing. */
  readonly variables: Variables;
}

/**
 * Opens the tables that a command works on.
 * @throws UsageError if neither the options nor the environment nor a local stack name the Access table
 */
export const openAdministration = (target: Target, variables: Variables): OpenedAdministration => {
  const named = target.table ?? variables["ACCESS_TABLE"];
  const all: Variables = named === undefined ? { ...localVariables(variables), ...variables } : variables;
  const table = named ?? all["ACCESS_TABLE"];
  if (table === undefined) throw new UsageError("name the table: --table <Access table> (or ACCESS_TABLE)");
  const region = regionCode(target.region ?? all["REGION_CODE"]);
  const client = new DynamoDBClient({
    ...clientOptions(all, all["AWS_ENDPOINT_URL_DYNAMODB"]),
    region: target.region === undefined ? (all["AWS_REGION"] ?? REGIONS[region].awsRegion) : REGIONS[region].awsRegion,
  });
  return {
    dynamodb: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    environment: { ACCESS_TABLE: table },
    clock: Date.now,
    region,
    variables: { ...all, WORK_ITEMS_TABLE: target["items-table"] ?? all["WORK_ITEMS_TABLE"] },
  };
};

/** The last line of every command's usage. */
export const COMMON_USAGE = `options: --json   --stage prod --region ${regionCodesInWords}, or --table <Access table> --region ${regionCodesInWords} (default: the local service)`;

/** Checks an organization's id. @throws UsageError */
export const organizationId = (value: string | undefined): string => {
  if (value === undefined) throw new UsageError("name the organization: --organization acme");
  const parsed = organizationIdSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`organization: ${parsed.error.issues[0]?.message ?? "is not valid"}`);
};

/** Reads an organization. @param advice end of the message @throws UsageError with the nearest one that exists */
export const existingOrganization = async (
  administration: Administration,
  id: string,
  advice = "",
): Promise<OrganizationRecord> => {
  try {
    return await getOrganization(administration, id);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const others = (await listOrganizations(administration)).map(({ organization }) => organization);
    const nearest = nearestTo(id, others);
    const hint = nearest === undefined ? ";" : `; did you mean ${nearest}?`;
    throw new UsageError(`${error.message}${hint} ${advice}`.replace(/;? *$/, ""));
  }
};

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const isExpected = error instanceof UsageError || error instanceof WorkItemsError;
  const isParseArgs = "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (isExpected || isParseArgs) return error.message;
  if ("code" in error && error.code === "ECONNREFUSED")
    return "no DynamoDB answers there: is the local service running?";
  return `${error.name}: ${error.message}`.replaceAll(/\s*\n\s*/g, " ");
};

/**
 * Runs a command and prints its result, unless it has printed it itself and returns nothing; any error is printed in one
 * line, with exit status 1.
 */
export const runCommand = async (command: () => Promise<string | undefined>): Promise<void> => {
  try {
    const result = await command();
    if (result !== undefined) console.log(result);
  } catch (error) {
    console.error(describe(error));
    process.exitCode = 1;
  }
};
