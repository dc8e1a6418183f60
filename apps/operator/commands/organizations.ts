import { type Command, Option } from "commander";
import { type Administration, growListingShards, listOrganizations, putOrganization } from "../data/administration.ts";
import { type GivenAttributes, readOrganization, repairOrganization } from "../data/damaged-access.ts";
import { type FeedState, readFeedState, resyncFeed } from "../data/feed-state.ts";
import { listOrganizationIds } from "@work-items/lib/organizations/access-store.ts";
import {
  BURST_MAX,
  LISTING_SHARDS_MAX,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_MAX,
  RETENTION_DAYS_MAX,
} from "@work-items/lib/organizations/organization.ts";
import {
  assertOrganization,
  describeError,
  nameDamaged,
  type OpenedAdministration,
  organizationId,
  printResult,
  type Result,
  runOperatorCommand,
  type Target,
  withTarget,
} from "./target-tables.ts";
import { type OnDamaged, passDamaged, stopAtDamaged } from "@work-items/lib/store/decode-record.ts";
import type { RegionCode } from "@work-items/lib/regions.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { reapplyErasures } from "../data/reapply-erasures.ts";
import { type CarryOut, keepCommand } from "./command-record.ts";
import { costOf, withReadBar } from "./read-bar.ts";
import { createCommandLine, reportErrors, UsageError } from "@work-items/terminal/command-line.ts";
import { erase, type EraseOptions } from "./erase.ts";
import { feedRuntime, operatorRuntime } from "./operator-runtime.ts";
import { countOf, runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { open } from "./stack-variables.ts";
import { assertApplied, type LedgerOptions, openLedger, withLedger } from "./restored-table.ts";
import { exportTo, importFrom, type TransferOptions } from "./transfer.ts";
import { showWebhooks } from "./webhook-lines.ts";

function wholeNumber(name: string, text: string | undefined, max: number, min = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) throw new UsageError(`--${name}: must be a whole number from ${min} to ${max}`);
  return value;
}

/** What an operator sees of an organization: its record, as far as it can be read, without what only the service uses. */
function publicPart(record: Partial<OrganizationRecord>) {
  return organizationRecordSchema.partial().omit({ cursor_secret: true, changes_from: true }).parse(record);
}

type Values = Target & {
  readonly rate?: string;
  readonly burst?: string;
  readonly listingShards?: string;
  readonly retentionDays?: string;
  readonly yes?: boolean;
  readonly create?: boolean;
};

interface ChangesOptions {
  readonly all?: boolean;
  readonly resync?: boolean;
}

/** The limits that were given. Asks before work items are erased. @throws UsageError */
async function limitsIn(terminal: Terminal, organization: string, values: Values): Promise<GivenAttributes> {
  const rate = wholeNumber("rate", values.rate, RATE_MAX);
  const burst = wholeNumber("burst", values.burst, BURST_MAX);
  const shards = wholeNumber("listing-shards", values.listingShards, LISTING_SHARDS_MAX);
  const retention = wholeNumber("retention-days", values.retentionDays, RETENTION_DAYS_MAX, 0);
  if (retention !== undefined && retention > 0 && values.yes !== true) {
    const typed = await terminal.ask(
      `Within 15 minutes, this begins to erase work items ${retention} days after they were completed (or created), ` +
        `and can't be undone. Type ${organization} to continue: `,
    );
    if (typed !== organization) throw new UsageError("nothing was changed");
  }
  return { rate, burst, listing_shards: shards, retention_days: retention };
}

function noteFirewall(terminal: Terminal, { variables }: OpenedAdministration, { rate = 0 }: GivenAttributes): void {
  const { FIREWALL_RATE: firewallRate } = variables;
  if (rate <= Number(firewallRate ?? Infinity)) return;
  terminal.note(`the firewall blocks an address above ${firewallRate} requests a second: raise firewallRate first`);
}

async function changed(
  terminal: Terminal,
  administration: OpenedAdministration,
  organization: string,
  values: Values,
  carryOut: CarryOut,
): Promise<Partial<OrganizationRecord>> {
  const { listing_shards: shards, ...others } = await limitsIn(terminal, organization, values);
  return carryOut(async () => {
    const onDamaged = shards === undefined ? nameDamaged(terminal) : stopAtDamaged;
    const record = await putOrganization(administration, organization, others).catch(passDamaged(onDamaged));
    // It was changed, but something else in it can't be read.
    if (record === undefined) return readOrganization(administration, organization, onDamaged);
    noteFirewall(terminal, administration, record);
    if (shards === undefined || shards === record.listing_write_shards) return record;
    return growListingShards(administration, organization, shards, (milliseconds) => {
      terminal.note(
        `waiting ${milliseconds / 1000} s until every function reads the new shards; then they are written too`,
      );
      return terminal.sleep(milliseconds);
    });
  });
}

function describe(record: Partial<OrganizationRecord>, region: RegionCode): string {
  const { rate = "unreadable", burst = "unreadable", listing_shards: shards = "unreadable" } = record;
  return (
    `${record.organization} in ${region}: ${rate} requests a second, ${burst} at once; ` +
    `its lists have ${shards} shards` +
    (record.retention_days ? `; work items are erased after ${record.retention_days} days` : "") +
    (record.erasing_since === undefined ? "" : `; its erasure started at ${record.erasing_since}`)
  );
}

function shown(record: Partial<OrganizationRecord>, { region }: Administration): Result {
  return [{ region, ...publicPart(record) }, describe(record, region)];
}

const show: Run<Values> = async (terminal, opened, organization) =>
  shown(await readOrganization(opened, organization, nameDamaged(terminal)), opened);
const set: Run<Values> = async (terminal, opened, ...rest) => shown(await changed(terminal, opened, ...rest), opened);

/** Writes an organization's damaged records again. */
const repair: Run<Values> = async (terminal, opened, organization, values, carryOut) => {
  const given = await limitsIn(terminal, organization, values);
  const done = await carryOut(() => repairOrganization(opened, organization, given));
  const { record, attributes, keys, lost } = done;
  noteFirewall(terminal, opened, record);
  if (lost.length > 0) terminal.exitCode = 1;
  const lines = [
    describe(record, opened.region),
    ...(attributes.length === 0 ? [] : [`written again: ${attributes.join(", ")}`]),
    ...(attributes.includes("cursor_secret") ? ["cursors of its lists and its feed are no longer valid"] : []),
    ...(attributes.includes("changes_from") ? ["readers of its change feed load everything again"] : []),
    ...(keys.length === 0 ? [] : [`keys restored: ${keys.join(", ")}`]),
    ...lost.map((id) => `key ${id} can't be restored: create a new one, then revoke it`),
  ];
  return [{ region: opened.region, ...publicPart(record), repaired: attributes, keys, lost }, lines.join("\n")];
};

async function list(terminal: Terminal, values: Values): Promise<Result> {
  const opened = await open(terminal, values);
  const { region } = opened;
  const records = (await listOrganizations(opened, nameDamaged(terminal))).toSorted((a, b) =>
    a.organization.localeCompare(b.organization),
  );
  return [
    records.map((record) => ({ region, ...publicPart(record) })),
    records.map((record) => describe(record, region)).join("\n") || `there are no organizations in ${region}`,
  ];
}

function describeFeed(state: FeedState): string {
  return (
    `${state.organization}: cursors from ${state.oldest_position} to ${state.newest_position}; ` +
    (state.newest_at === null ? "no change yet" : `newest change at ${state.newest_at}`) +
    (state.complete_until === null ? "" : `; everything written before ${state.complete_until} is in the feed`) +
    (state.waiting_messages === 0 ? "" : `; ${state.waiting_messages} messages wait, of all organizations`) +
    (state.failing_since === null ? "" : `; STOPPED: no change could be appended since ${state.failing_since}`) +
    (state.is_gap_due ? "; changes were lost, and its readers will load everything again" : "")
  );
}

/** Shows the change feed of one organization or of all. With `--resync`, makes their readers start over. */
async function changes(terminal: Terminal, id: string | undefined, values: Values & ChangesOptions): Promise<void> {
  if ((id === undefined) !== (values.all === true)) throw new UsageError("name an organization, or give --all");
  const opened = await open(terminal, values);
  const runtime = feedRuntime(opened);
  const change = async (organization: string): Promise<void> => {
    if (values.resync === true) {
      await keepCommand(opened, "organizations changes", organization, { resync: true }, () =>
        resyncFeed(runtime, organization),
      );
    }
    const state = await readFeedState(runtime, organization);
    if (state === undefined) return;
    printResult(terminal, values, [state, describeFeed(state)]);
  };
  if (id !== undefined) {
    await assertOrganization(opened, organizationId(id), stopAtDamaged);
    await change(id);
    return;
  }
  // Each is read by its id, so that a damaged record is named and doesn't keep the others from being shown.
  for (const organization of (await Array.fromAsync(listOrganizationIds(opened))).flat()) {
    await reportErrors(
      terminal,
      () => change(organization),
      (error) => `${organization}: ${describeError(error)}`,
    );
  }
}

interface ReapplyOptions extends LedgerOptions {
  readonly restoredTo?: string;
  readonly check?: boolean;
}

/** Applies the ledger of erasures to a restored table. */
async function reapply(terminal: Terminal, values: Values & ReapplyOptions): Promise<void> {
  if (values.itemsTable === undefined) throw new UsageError("name the restored table: --items-table <name>");
  const restoredTo = Date.parse(values.restoredTo ?? "");
  const isCheck = values.check === true;
  if (!isCheck && Number.isNaN(restoredTo))
    throw new UsageError("--restored-to: must be a time, such as 2026-11-25T10:00:00Z");
  const opened = await open(terminal, values);
  const runtime = operatorRuntime(opened);
  if (isCheck) {
    await assertApplied(runtime, values);
    printResult(terminal, values, [{ applied: true }, `${values.itemsTable} holds nothing that was erased`]);
    return;
  }
  const { ledger, usedUntil } = await openLedger(runtime, values);
  // A later time would leave out erasures.
  const since = [isoTime(restoredTo), usedUntil ?? isoTime(restoredTo)].toSorted()[0]!;
  const done = await keepCommand(opened, "organizations reapply-erasures", "all", values, () =>
    withReadBar(terminal, "reading", (onProgress) =>
      reapplyErasures(runtime, ledger, since, { onProgress, onDamaged: nameDamaged(terminal) }),
    ),
  );
  const { deleted, emptied, present, readUnits } = done;
  if (present.length > 0) terminal.exitCode = 1;
  const lines = [
    `erased ${countOf(deleted, "record")} again, and emptied ${emptied} items and events; ${costOf(readUnits)}`,
    ...present.map((id) => `${id} was erased but is in the Access table again: organizations erase ${id}`),
  ];
  printResult(terminal, values, [done, lines.join("\n")]);
}

type Run<V> = (
  terminal: Terminal,
  opened: OpenedAdministration,
  organization: string,
  values: V,
  carryOut: CarryOut,
) => Promise<Result | undefined>;

interface OnExisting {
  /** Name under which what the command carries out is kept, unless it is a dry run. @default it isn't kept */
  readonly kept?: string;
  /** Added to the error if the organization doesn't exist. @default nothing */
  readonly advice?: string;
  /** Called if the organization's record is damaged. @default names it */
  readonly onDamaged?: OnDamaged;
}

function withLimits(command: Command): Command {
  return command
    .option("--rate <number>", "requests a second")
    .option("--burst <number>", "requests at once")
    .option("--listing-shards <number>", "shards of its lists; they can only grow")
    .option(
      "--retention-days <number>",
      "erase work items this many days after they were completed, or created if they never were; 0: never",
    )
    .option("--yes", "don't ask for confirmation");
}

/** `npm run organizations`. @returns the exit status */
export function organizationsCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run organizations --",
    "List, show, set, move and erase organizations",
  );
  const command = (usage: string, description: string): Command =>
    withTarget(program.command(usage).description(description));
  /** Opens the tables, runs a command on an organization that exists, and prints what it returns. */
  const onExisting =
    <V extends Values & { readonly dryRun?: boolean }>(
      run: Run<V>,
      { kept, advice, onDamaged = nameDamaged(terminal) }: OnExisting = {},
    ) =>
    async (id: string, values: V): Promise<void> => {
      const organization = organizationId(id);
      const opened = await open(terminal, values);
      if (values.create !== true) await assertOrganization(opened, organization, onDamaged, advice);
      const isKept = kept !== undefined && values.dryRun !== true;
      const carryOut: CarryOut = (work) => (isKept ? keepCommand(opened, kept, organization, values, work) : work());
      const result = await run(terminal, opened, organization, values, carryOut);
      if (result !== undefined) printResult(terminal, values, result);
    };

  command("list", "list all organizations").action(async (values: Values) =>
    printResult(terminal, values, await list(terminal, values)),
  );
  command("show <organization>", "show one").action(onExisting(show));
  withLimits(command("set <organization>", "set the limits of an organization"))
    .option("--create", "create it if it doesn't exist")
    .action(onExisting(set, { kept: "organizations set", advice: "use --create for a new one" }));
  withLimits(command("repair <organization>", "write what can't be read of its record and its keys again")).action(
    onExisting(repair, { kept: "organizations repair", onDamaged: () => undefined }),
  );
  command("changes [organization]", "show the cursors of its change feed")
    .option("--all", "of all organizations")
    .option("--resync", "make readers load everything again, such as after a table was restored")
    .action((id: string | undefined, values: Values & ChangesOptions) => changes(terminal, id, values));
  command("webhooks <organization>", "show its webhooks, their last deliveries and what is due").action(
    onExisting<Values>((_, opened, id) => showWebhooks(terminal, operatorRuntime(opened), id)),
  );
  withLedger(command("export <organization>", "write its data as NDJSON to the standard output or a file"))
    .option("--file <file>", "file to write, such as acme.ndjson; run it again to continue an interrupted export")
    .option("--overwrite", "replace the file if it exists")
    .option("--dry-run", "only count")
    .action(
      onExisting<TransferOptions & Values>(
        (_, opened, id, values, carryOut) => carryOut(() => exportTo(terminal, operatorRuntime(opened), id, values)),
        { kept: "organizations export", onDamaged: stopAtDamaged },
      ),
    );
  withLedger(command("import <organization>", "read what export wrote, from the standard input or a file"))
    .option("--file <file>", "file to read, such as acme.ndjson")
    .addOption(new Option("--replace", "replace records that exist with other content").conflicts("keep"))
    .option("--keep", "leave records that exist unchanged (default: stop at one with other content)")
    .option("--dry-run", "write nothing")
    .action(
      onExisting<TransferOptions & Values>(
        (_, opened, id, values, carryOut) => carryOut(() => importFrom(terminal, operatorRuntime(opened), id, values)),
        { kept: "organizations import", onDamaged: stopAtDamaged },
      ),
    );
  command("erase <organization>", "erase an organization, or one item or person of it")
    .addOption(new Option("--item <external_id>", "erase only this work item").conflicts("person"))
    .option("--person <email>", "empty agents and actors with this address")
    .option("--files", "with --person: delete the files of its uploads too, which then can't be undone")
    .addOption(
      new Option("--without-scan", "don't scan the whole table at the end; the receipt then says so").conflicts("item"),
    )
    .option("--dry-run", "erase nothing")
    .option("--yes", "don't ask for confirmation")
    .action(
      onExisting<EraseOptions & Values>((_, opened, ...rest) => erase(terminal, operatorRuntime(opened), ...rest), {
        kept: "organizations erase",
      }),
    );
  withLedger(withTarget(program.command("reapply-erasures")))
    .description("erase again, in a restored table, what was erased after the time to which it was restored")
    .option("--restored-to <time>", "the time to which the table was restored, such as 2026-11-25T10:00:00Z")
    .addOption(new Option("--check", "only check that this has been done").conflicts("restoredTo"))
    .action((values: Values & ReapplyOptions) => reapply(terminal, values));
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(organizationsCommand);
