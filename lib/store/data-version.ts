import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { ScanCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { codeOf, isUnavailable } from "../aws/error-codes.ts";
import type { Permissions } from "../aws/permissions.ts";
import { type ClientFactories, lambda, type Runtime, type RuntimeWith } from "../aws/runtime.ts";
import { getItem } from "./batch-get.ts";
import { ORIGIN_KEY, type OriginRuntime, type TableRuntime, writeOrigin } from "./table-origin.ts";

/**
 * Version of the form of everything that is stored or sent: records, messages, chunks, lists, cursors, local directories. Raise
 * it with a change after which this code can't read what earlier code wrote, or earlier code what this one writes.
 */
export const DATA_VERSION = 3;
/** The versions that this code reads. */
export const READS: readonly number[] = [3];

/** What is stored has a version that this code doesn't read, or none. */
export class DataVersionError extends Error {
  override readonly name = "DataVersionError";
  constructor(version: number | undefined, remedy: string) {
    const found = version === undefined ? "no version" : `version ${version}`;
    super(`what is stored has ${found}, and this code reads ${READS.join(", ")}: ${remedy}`);
  }
}

/** @param remedy what to do, for the error's message @throws DataVersionError */
export function assertReads(version: number | undefined, remedy: string): void {
  if (version === undefined || !READS.includes(version)) throw new DataVersionError(version, remedy);
}

async function readDataVersion({ dynamodb, environment }: TableRuntime): Promise<number | undefined> {
  const { data_version: version } = (await getItem(dynamodb, environment.WORK_ITEMS_TABLE, ORIGIN_KEY)) ?? {};
  return typeof version === "number" ? version : undefined;
}

/** Reads the version of the table of work items. @returns undefined if nothing is stored @throws DataVersionError */
export async function checkDataVersion(runtime: TableRuntime, remedy: string): Promise<number | undefined> {
  const version = await readDataVersion(runtime);
  if (version === undefined) {
    const any = new ScanCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Limit: 1, ConsistentRead: true });
    if ((await runtime.dynamodb.send(any)).Items?.length === 0) return undefined;
  }
  assertReads(version, remedy);
  return version;
}

/** Writes into the table of work items that it has this code's version from now on. Only a start or a deployment does. */
export async function writeDataVersion(runtime: OriginRuntime): Promise<void> {
  await writeOrigin(runtime);
  await runtime.dynamodb.send(
    new UpdateCommand({
      TableName: runtime.environment.WORK_ITEMS_TABLE,
      Key: ORIGIN_KEY,
      UpdateExpression: "SET data_version = :version",
      ExpressionAttributeValues: { ":version": DATA_VERSION },
    }),
  );
}

const REMEDY =
  "run npm run pause, because messages that are received five times become dead letters; then deploy a commit that reads it";

/** Makes the function that checks the version until it was right once. @throws DataVersionError */
function createVersionCheck(runtime: RuntimeWith<"workItems">) {
  const { log } = runtime;
  let isRight = false;
  return async (): Promise<void> => {
    if (isRight) return;
    try {
      assertReads(await readDataVersion(runtime), REMEDY);
      isRight = true;
    } catch (error) {
      if (isUnavailable(error)) {
        // The handler's own requests fail too, and it knows what then becomes of its messages.
        log.warn("the version of what is stored can't be read yet", { reason: codeOf(error) });
        return;
      }
      if (error instanceof DataVersionError) {
        log.error(error.message);
        new Metrics().singleMetric().addMetric("DataRefused", MetricUnit.Count, 1);
      }
      throw error;
    }
  };
}

/**
 * Makes the function of a worker, as `lambda` does. Until it has found a version that it reads, each invocation fails, so that
 * Lambda gives its messages back.
 */
export function worker<
  const P extends Permissions & Required<Pick<Permissions, "workItems">>,
  E extends (event: never, context: never) => Promise<unknown>,
>(permissions: P, factories: ClientFactories<P>, create: (runtime: Runtime<P>) => E) {
  return lambda(permissions, factories, (runtime: Runtime<P>): E => {
    const check = createVersionCheck(runtime as unknown as RuntimeWith<"workItems">);
    const handle = create(runtime);
    return (async (event: never, context: never) => {
      await check();
      return handle(event, context);
    }) as E;
  });
}
