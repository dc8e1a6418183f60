import type { Command } from "commander";
import type { Ledger } from "../data/erasure-ledger.ts";
import { assertLedgerOf, missingErasure } from "../data/reapply-erasures.ts";
import { regionCodesInWords } from "@work-items/lib/regions.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { awsRegionIn, regionCode, tablesIn, type Target } from "./target-tables.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";

/** Which ledger belongs to a restored table. */
export interface LedgerOptions extends Pick<Target, "stage"> {
  readonly ledger?: string;
  readonly ledgerRegion?: string;
}

/** Adds the options of commands that read restored tables. */
export function withLedger(command: Command): Command {
  return command
    .option("--ledger <table>", "the Audit table of the region a restored table comes from, or a restored copy of it")
    .option("--ledger-region <region>", `where that table is, ${regionCodesInWords} (default: --region)`);
}

/**
 * Opens the ledger of the region from which a table comes: the service's own, or the one that was named.
 * @returns it, and when the table was last in use there, if that is known
 * @throws UsageError; StateConflictError that names the right ledger
 */
export async function openLedger(
  runtime: OperatorRuntime,
  { ledger: name, ledgerRegion, stage }: LedgerOptions,
): Promise<{ readonly ledger: Ledger; readonly usedUntil: string | undefined }> {
  if (name === undefined && ledgerRegion !== undefined) throw new UsageError("--ledger-region: name the --ledger too");
  const dynamodb =
    ledgerRegion === undefined
      ? runtime.dynamodb
      : tablesIn(awsRegionIn(stage, regionCode(ledgerRegion)), runtime.variables);
  const ledger = { dynamodb, environment: { AUDIT_TABLE: name ?? runtime.environment.AUDIT_TABLE } };
  const origin = await assertLedgerOf(runtime, ledger, name !== undefined);
  return { ledger, usedUntil: origin?.at };
}

/** Refuses a table that isn't the service's own and may hold erased data again. @throws as `assertApplied` */
export async function refuseErased(runtime: OperatorRuntime, options: LedgerOptions): Promise<void> {
  if (runtime.variables["OWN_ITEMS_TABLE"] !== runtime.environment.WORK_ITEMS_TABLE)
    await assertApplied(runtime, options);
}

/**
 * Checks that a restored table, whatever its name is by now, doesn't hold erased data again.
 * @throws UsageError that names the command to run; StateConflictError that names the right ledger
 */
export async function assertApplied(runtime: OperatorRuntime, options: LedgerOptions): Promise<void> {
  const { WORK_ITEMS_TABLE: table } = runtime.environment;
  const { ledger } = await openLedger(runtime, options);
  const missing = await missingErasure(runtime, ledger);
  if (missing === undefined) return;
  const { ledger: name, ledgerRegion: region } = options;
  const named = [name && ` --ledger ${name}`, region && ` --ledger-region ${region}`].filter(Boolean).join("");
  throw new UsageError(
    `${table} may hold what was erased on ${missing}: first run ` +
      `npm run organizations -- reapply-erasures --items-table ${table}${named} --restored-to <time>`,
  );
}
