import type { Command } from "commander";
import { assertLedgerOf, type Ledger, lackedErasure } from "../data/erasure-ledger.ts";
import { regionCodesInWords } from "../../../lib/regions.ts";
import { UsageError } from "../../../infra/command-line.ts";
import { regionCode, tablesIn } from "./target-tables.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";

/** Which ledger counts for a restored table. */
export interface LedgerOptions {
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
 * Opens the ledger of the place that a table comes from: the service's own, or the one that was named.
 * @returns it, and when the table was last in use there, if that is known
 * @throws UsageError; StateConflictError that names the ledger which counts
 */
export async function openLedger(
  runtime: OperatorRuntime,
  { ledger: name, ledgerRegion }: LedgerOptions,
): Promise<{ readonly ledger: Ledger; readonly usedUntil: string | undefined }> {
  if (name === undefined && ledgerRegion !== undefined) throw new UsageError("--ledger-region: name the --ledger too");
  const dynamodb =
    ledgerRegion === undefined ? runtime.dynamodb : tablesIn(regionCode(ledgerRegion), runtime.variables, ledgerRegion);
  const ledger = { dynamodb, environment: { AUDIT_TABLE: name ?? runtime.environment.AUDIT_TABLE } };
  const origin = await assertLedgerOf(runtime, ledger, name !== undefined);
  return { ledger, usedUntil: origin?.at };
}

/**
 * Refuses a table that isn't the service's own and may still hold what was erased since it was restored.
 * @throws UsageError that names the command; StateConflictError that names the ledger which counts
 */
export async function refuseErased(runtime: OperatorRuntime, options: LedgerOptions): Promise<void> {
  const { WORK_ITEMS_TABLE: table } = runtime.environment;
  if (runtime.variables["OWN_ITEMS_TABLE"] === table) return;
  const { ledger } = await openLedger(runtime, options);
  const lacked = await lackedErasure(ledger, table);
  if (lacked === undefined) return;
  const { ledger: name, ledgerRegion: region } = options;
  const named = [name && ` --ledger ${name}`, region && ` --ledger-region ${region}`].filter(Boolean).join("");
  throw new UsageError(
    `${table} may hold what was erased on ${lacked}: first run ` +
      `npm run organizations -- reapply-erasures --items-table ${table}${named} --restored-to <time>`,
  );
}
