import { constants } from "node:os";
import { isoTime } from "@work-items/lib/clock.ts";
import { CALLS_END_WITHIN_MS } from "@work-items/lib/work-items/erase-items.ts";
import { eraseItem } from "../data/erase-item.ts";
import { countForErasure, eraseOrganization } from "../data/erase-organization.ts";
import { keptInLedger, type Subject } from "../data/erasure-ledger.ts";
import { writeOrigin } from "@work-items/lib/store/table-origin.ts";
import type { ErasureCounts } from "../data/erasure-pass.ts";
import { type ErasedPerson, erasePerson, type PersonOptions } from "../data/erase-person.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { countOf, printable, type Terminal } from "@work-items/terminal/terminal.ts";
import type { CarryOut } from "./command-record.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";
import { nameDamaged, type Result } from "./target-tables.ts";
import { costOf, withReadBar } from "./read-bar.ts";
import { goneBy, remainsInWords, remainsOfContent, remainsOfOrganization } from "./remains.ts";

export interface EraseOptions {
  readonly item?: string;
  readonly person?: string;
  readonly files?: boolean;
  readonly dryRun?: boolean;
  readonly withoutScan?: boolean;
  readonly yes?: boolean;
}

/** What an erasure command works with. */
interface Erasing {
  readonly terminal: Terminal;
  readonly runtime: OperatorRuntime;
  readonly organization: string;
  readonly options: EraseOptions;
  /** Erases, and notes in the ledger what. Called once the operator has confirmed. */
  readonly carryOut: <T>(subject: Subject, work: (finish: () => Promise<void>) => Promise<T>) => Promise<T>;
}

/** Mentions that are printed without `--json`. */
const MENTIONS_SHOWN = 20;

async function confirm(terminal: Terminal, organization: string, what: string): Promise<void> {
  const typed = await terminal.ask(`This erases ${what} and can't be undone. Type ${organization} to continue: `);
  if (typed !== organization) throw new UsageError("nothing was erased");
}

const INTERRUPTS = ["SIGINT", "SIGTERM"] as const;

/** Runs an erasure. If it is interrupted or fails, says what state that leaves and what to do next. */
async function resumably<T>(terminal: Terminal, state: string, work: () => Promise<T>): Promise<T> {
  const advise = (): void => terminal.note(`${state}. Run the same command again: it completes the erasure.`);
  const interrupted = (signal: NodeJS.Signals): never => {
    advise();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of INTERRUPTS) process.once(signal, interrupted);
  try {
    return await work();
  } catch (error) {
    advise();
    throw error;
  } finally {
    for (const signal of INTERRUPTS) process.off(signal, interrupted);
  }
}

function countsInWords(counts: Readonly<ErasureCounts>): string {
  return Object.entries(counts)
    .map(([kind, count]) => countOf(count, kind.replaceAll("_", " ").replace(/s$/, "")))
    .join(", ");
}

const NOT_SCANNED =
  "the table was not scanned: it may hold records that no index leads to, such as an event without its item";

/** What erasing an item or a person did, or would do, and what remains. */
function report(
  { options, runtime }: Erasing,
  result: object,
  lines: readonly string[],
  files?: readonly string[],
): Result {
  const { dryRun = false } = options;
  const now = runtime.clock();
  const remains = remainsOfContent(now, runtime.variables, files);
  return [
    { ...result, dry_run: dryRun, at: isoTime(now), remains, gone_by: goneBy(remains) },
    [...lines, ...(dryRun ? [] : remainsInWords(remains))].join("\n"),
  ];
}

async function eraseAll({ terminal, runtime, organization, options, carryOut }: Erasing): Promise<Result> {
  const onDamaged = nameDamaged(terminal);
  const { erased, readUnits } = await withReadBar(terminal, "counting", (onProgress) =>
    countForErasure(runtime, organization, { onProgress, onDamaged }),
  );
  if (options.dryRun === true) {
    return [
      { organization, would_erase: erased, read_units: readUnits },
      `would erase ${countsInWords(erased)}; reading it takes ${costOf(readUnits)}`,
    ];
  }
  if (!options.yes) await confirm(terminal, organization, `${organization}: ${countsInWords(erased)}`);
  const onWait = (until: number, reason: string): void =>
    terminal.note(`waiting until ${isoTime(until)}: ${reason}. You can stop this command and run it again after that.`);
  const receipt = await resumably(terminal, `${organization} is partly erased, and its keys are revoked`, () =>
    withReadBar(terminal, "erasing", (onProgress) =>
      carryOut({}, (finish) =>
        eraseOrganization(runtime, organization, {
          onErased: finish,
          onProgress,
          onWait,
          sleep: terminal.sleep,
          onDamaged,
          withoutScan: options.withoutScan === true,
        }),
      ),
    ),
  );
  const remains = remainsOfOrganization(Date.parse(receipt.finished_at), runtime.variables);
  const lines = [
    `${receipt.organization} in ${receipt.region} is erased: ${countsInWords(receipt.erased)}`,
    `began ${receipt.began_at}, finished ${receipt.finished_at}, ${receipt.passes} passes, ${costOf(receipt.read_units)}`,
    ...(receipt.scanned ? [] : [NOT_SCANNED]),
    ...remainsInWords(remains),
  ];
  return [{ ...receipt, remains, gone_by: goneBy(remains) }, lines.join("\n")];
}

async function eraseOne(erasing: Erasing, externalId: string): Promise<Result> {
  const { terminal, runtime, organization, options, carryOut } = erasing;
  const { dryRun = false } = options;
  const first = await eraseItem(runtime, organization, externalId, { dryRun: true, sleep: terminal.sleep });
  if (!dryRun && !options.yes) {
    const named = `the work item ${externalId} (${first.id}) with ${countOf(first.events, "event")}`;
    await confirm(terminal, organization, named);
  }
  if (!dryRun)
    terminal.note(`waiting ${CALLS_END_WITHIN_MS / 1000} s for running calls to end, then checking the item again`);
  const erased = dryRun
    ? first
    : await resumably(terminal, `${externalId} may be partly erased`, () =>
        carryOut({ item: first.id }, () => eraseItem(runtime, organization, externalId, { sleep: terminal.sleep })),
      );
  return report(erasing, { organization, external_id: externalId, ...erased }, [
    `${dryRun ? "would erase" : "erased"} work item ${erased.id} and ${countOf(erased.events, "event")}`,
  ]);
}

function personInWords(person: ErasedPerson, address: string, dryRun: boolean): string[] {
  const { work_items: items, events, mentions, files, deleted_files: deleted, scanned, read_units: readUnits } = person;
  const kinds = Map.groupBy(mentions, ({ kind }) => kind);
  return [
    `${dryRun ? "would empty" : "emptied"} the agent of ${countOf(items, "work item")} and the actor of ${countOf(events, "event")}; ${costOf(readUnits)}`,
    ...(scanned || dryRun ? [] : [NOT_SCANNED]),
    ...(mentions.length === 0 ? [] : [`${address} is still in ${countOf(mentions.length, "text")}, left unchanged:`]),
    ...[...kinds].map(([kind, found]) => {
      const ids = found.slice(0, MENTIONS_SHOWN).map(({ id }) => printable(id));
      return `  ${kind} (${found.length}): ${ids.join(", ")}${found.length > ids.length ? ", …; --json names all" : ""}`;
    }),
    ...(deleted.length === 0
      ? []
      : [
          `${dryRun ? "would delete" : "deleted"} the files of these uploads, which can't be undone any more: ` +
            deleted.join(", "),
        ]),
    ...(files.length === 0
      ? []
      : ["files, chunks and lists of these uploads, and lists of their undos, may hold it until they expire:"]),
    ...files.map(({ job, file_name: name, kept_until: until }) => `  ${job} ${printable(name)}: until ${until}`),
  ];
}

async function eraseAddress(erasing: Erasing, address: string): Promise<Result> {
  const { terminal, runtime, organization, options, carryOut } = erasing;
  if (!/^\S+@\S+$/.test(address)) throw new UsageError("--person: must be an email address");
  const { dryRun = false, files: withFiles = false } = options;
  const andFiles = withFiles ? ", and the files of its uploads, which then can't be undone," : "";
  if (!dryRun && !options.yes)
    await confirm(terminal, organization, `${address} in all agents and actors of ${organization}${andFiles}`);
  let shown = "";
  const onWait: PersonOptions["onWait"] = (waiting) => {
    const what =
      "jobs" in waiting
        ? `waiting for uploads to end: ${waiting.jobs.join(", ")}`
        : `waiting until ${isoTime(waiting.until)}: running calls and workers may still write, and the index may lag`;
    if (what !== shown) terminal.note(what);
    shown = what;
  };
  const eraseIt = () =>
    withReadBar(terminal, dryRun ? "looking for" : "erasing", (onProgress) =>
      erasePerson(runtime, organization, address, {
        dryRun,
        withFiles,
        withoutScan: options.withoutScan ?? dryRun,
        onProgress,
        onWait,
        sleep: terminal.sleep,
        onDamaged: nameDamaged(terminal),
      }),
    );
  const erased = await (dryRun
    ? eraseIt()
    : resumably(terminal, `the erasure of ${address} isn't complete`, () => carryOut({ address }, eraseIt)));
  const files = erased.files.map(({ kept_until: until }) => until);
  return report(erasing, { organization, ...erased }, personInWords(erased, address, dryRun), files);
}

/**
 * Erases everything of an organization, one work item, or a person.
 * @param carryOut called once the erasure is confirmed @throws UsageError, NotFoundError
 */
export function erase(
  terminal: Terminal,
  runtime: OperatorRuntime,
  organization: string,
  options: EraseOptions,
  carryOut: CarryOut,
): Promise<Result> {
  const { item, person } = options;
  if (options.files && person === undefined) throw new UsageError("--files: only with --person");
  const erasing: Erasing = {
    terminal,
    runtime,
    organization,
    options,
    carryOut: (subject, work) =>
      carryOut(async () => {
        const result = await keptInLedger(runtime, organization, subject, work);
        // A backup from now on says that it is later, whatever came back with an earlier time.
        await writeOrigin({ ...runtime, environment: { ...runtime.environment, REGION_CODE: runtime.region } });
        return result;
      }),
  };
  if (item !== undefined) return eraseOne(erasing, item);
  return person === undefined ? eraseAll(erasing) : eraseAddress(erasing, person);
}
