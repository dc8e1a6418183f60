import { createDynamoDbClient } from "@work-items/lib/aws/dynamodb-client.ts";
import type { RegionCode } from "@work-items/lib/regions.ts";
import {
  assertReads,
  checkDataVersion,
  DATA_VERSION,
  DataVersionError,
  writeDataVersion,
} from "@work-items/lib/store/data-version.ts";
import type { OriginRuntime } from "@work-items/lib/store/table-origin.ts";
import { SettingsError } from "../../../infra/settings/settings.ts";
import { clientOptionsOf, readOutputs, type StackAddress } from "./deployed-stack.ts";

const REMEDY = "nothing was deployed; check out a commit that reads it";

/** Outputs of a stack, by name. */
type Outputs = ReadonlyMap<string, string>;

/** The tables of a stack. @returns undefined if it has none yet */
function tablesOf(address: StackAddress, region: RegionCode, outputs: Outputs): OriginRuntime | undefined {
  const [table, ledger] = [outputs.get("WorkItemsTable"), outputs.get("AuditTable")];
  if (table === undefined || ledger === undefined) return undefined;
  return {
    dynamodb: createDynamoDbClient({}, clientOptionsOf(address)),
    clock: Date.now,
    environment: { WORK_ITEMS_TABLE: table, AUDIT_TABLE: ledger, REGION_CODE: region },
  };
}

/**
 * Checks that this code reads what a stack has stored, and what its deployed code may have written since an update.
 * @throws SettingsError
 */
export async function assertReadsData(address: StackAddress, region: RegionCode, outputs: Outputs): Promise<void> {
  const runtime = tablesOf(address, region, outputs);
  if (runtime === undefined) return;
  try {
    await checkDataVersion(runtime, REMEDY);
    const deployed = outputs.get("DataVersion");
    if (deployed !== undefined) assertReads(Number(deployed), REMEDY);
  } catch (error) {
    const { name, message } = error as Error;
    const reason =
      error instanceof DataVersionError ? message : `can't read the version of its data: ${name}: ${message}`;
    throw new SettingsError(`${address.stackName}: ${reason}`);
  }
}

/** Raises the version of a stack's data to that of the code that was deployed. Does nothing if the stack wasn't updated. */
export async function raiseDataVersion(address: StackAddress, region: RegionCode): Promise<void> {
  const outputs = await readOutputs(address);
  const runtime = tablesOf(address, region, outputs);
  if (runtime !== undefined && outputs.get("DataVersion") === String(DATA_VERSION)) await writeDataVersion(runtime);
}
