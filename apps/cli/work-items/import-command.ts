import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Client, Mapping, Upload, UploadJob, WorkItemUpload } from "work-items-client/client.ts";
import { hasEnded } from "work-items-client/upload-calls.ts";
import { COMMA, DELIMITERS, type Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { quoted } from "@work-items/lib/cell-value.ts";
import { listed } from "@work-items/lib/errors.ts";
import { isJsonObject } from "@work-items/lib/json.ts";
import { readTrialRows } from "@work-items/importer/checks/trial-rows.ts";
import type { FileRow } from "@work-items/importer/ids/repeated-ids.ts";
import { type TargetName, unsetTargets } from "@work-items/importer/proposals/target-states.ts";
import { nameOfColumn } from "@work-items/lib/uploads/csv/csv-columns.ts";
import { isReportColumn } from "@work-items/lib/uploads/csv/header-names.ts";
import { countOf, type Terminal } from "@work-items/terminal/terminal.ts";
import { type Command, type CommandCall, EXIT, type Options, textOption, textsOption } from "./command.ts";
import { notFoundLines } from "./ask-targets.ts";
import {
  confirmed,
  noteAlike,
  noteCounts,
  noteEmptyCells,
  noteIds,
  undecidedIn,
  usedMapping,
} from "./before-import.ts";
import { writeProposal } from "./propose.ts";
import { changedFile, lookThrough, type SeenFile, totalsOf } from "./survey-file.ts";
import { type CsvFile, openCsv, readSample, STANDARD_INPUT } from "./open-csv.ts";
import { removeEarlierList, saveList } from "./row-lists.ts";
import { noteTrial } from "./trial-lines.ts";
import { withProgress } from "../progress-bar.ts";
import { CommandError, UsageError } from "@work-items/terminal/command-line.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";

function delimiterOf(options: Options): Delimiter | undefined {
  const given = textOption(options, "delimiter");
  if (given === undefined) return undefined;
  const delimiter = given === String.raw`\t` || given === "tab" ? "\t" : given;
  if (delimiter in DELIMITERS) return delimiter as Delimiter;
  throw new UsageError('--delimiter must be "," ";" "|" or tab');
}

/**
 * The mapping of a file whose columns are named after the fields.
 * @throws CommandError if they aren't: a person has to review what other columns mean
 */
async function mappingByNames(file: CsvFile): Promise<Mapping> {
  const { names, headerRow } = await readSample(file, 1);
  const targets = names.map((name) => nameOfColumn(name));
  const unknown = names.filter((name, index) => targets[index] === undefined && !isReportColumn(name));
  if (headerRow === 1 && unknown.length === 0) {
    const fields: Record<string, { readonly column: string }> = {};
    for (const [index, target] of targets.entries()) {
      if (target !== undefined) fields[target] = { column: names[index]! };
    }
    return { fields, delimiter: file.delimiter } as Mapping;
  }
  const other = headerRow === 1 ? `unknown column ${listed(unknown.map(quoted))}` : `the header is in row ${headerRow}`;
  throw new CommandError(`${other}: write a mapping with --propose <file>, check it, and import with --mapping <file>`);
}

/** The mapping of `--mapping`, with the delimiter of `--delimiter`; undefined without. @throws CommandError */
async function givenMapping(options: Options): Promise<Mapping | undefined> {
  const path = textOption(options, "mapping");
  if (path === undefined) return undefined;
  let given: unknown;
  try {
    given = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${plainReason(error)}`);
  }
  if (!isJsonObject(given)) throw new CommandError(`cannot read ${path}: must be a JSON object`);
  const delimiter = delimiterOf(options);
  return { ...given, ...(delimiter !== undefined && !("from" in given) && { delimiter }) } as Mapping;
}

/** The delimiter that was given or that a mapping has; undefined if it has to be detected. */
function knownDelimiter(options: Options, mapping: Mapping | undefined): Delimiter | undefined {
  if (mapping === undefined || "from" in mapping) return delimiterOf(options);
  return mapping.delimiter ?? COMMA;
}

/**
 * The mapping to send. A workbook's has the delimiter of its CSV. If none is given, only a file with another delimiter
 * than a comma needs one.
 */
async function mappingOf(given: Mapping | undefined, file: CsvFile): Promise<Mapping | undefined> {
  if (given === undefined) return file.delimiter === COMMA ? undefined : mappingByNames(file);
  return file.isWorkbook && !("from" in given) ? { ...given, delimiter: COMMA } : given;
}

/** The counts of a job, in one line. */
function describeJob(job: WorkItemUpload): string {
  const outcomes =
    job.undo_of === undefined
      ? (["created", "updated", "unchanged", "restored", "failed"] as const)
      : (["deleted", "undone", "partly_undone", "kept", "unchanged", "failed"] as const);
  const counts = outcomes.map((outcome) => `${job[`${outcome}_rows`]} ${outcome.replace("_", " ")}`);
  const kind = job.dry_run ? " (dry run)" : "";
  const error = job.error === undefined ? "" : `; ${job.error}`;
  if (!hasEnded(job) && job.total_rows === 0) {
    return `${job.id} ${job.status}${kind}: sent; work-items uploads show ${job.id} shows what its rows do`;
  }
  return `${job.id} ${job.status}${kind}: ${countOf(job.total_rows, "row")}, ${counts.join(", ")}${error}`;
}

/** Prints a job, with `--json` as JSON. */
export function printJob(terminal: Terminal, job: WorkItemUpload, { json }: Options): void {
  if (json === true) terminal.printData(JSON.stringify(job));
  else terminal.print(describeJob(job));
}

/** Prints a job and, if it has ended, sets the exit code. */
export function printOutcome(terminal: Terminal, job: WorkItemUpload, options: Options): void {
  printJob(terminal, job, options);
  if (!hasEnded(job)) return;
  if (job.status !== "completed") terminal.exitCode = EXIT.failed;
  else if (job.failed_rows > 0) terminal.exitCode = EXIT.someFailed;
}

/** How an import runs. */
function wayOf(options: Options) {
  const isDry = options["dryRun"] === true;
  const lists = { failed_rows: textOption(options, "errors"), results: textOption(options, "results") };
  const waits = options["wait"] === true || lists.failed_rows !== undefined || lists.results !== undefined;
  const hasTrial = options["trial"] !== false;
  // Programs get the job alone.
  const isShown = options["json"] !== true && (isDry ? waits : hasTrial);
  return { isDry, lists, waits, hasTrial, isShown };
}

/** A file that is ready to be sent. */
interface ReadyFile {
  readonly name: string;
  readonly content: Blob;
  /** The mapping to send. */
  readonly mapping: Mapping | undefined;
  /** Undefined if the mapping isn't valid, which the service reports. */
  readonly seen: SeenFile | undefined;
  /** The targets that nothing sets, although a person has named a mapping. */
  readonly unset: readonly TargetName[];
  /** The rows that are left out unless a person wants them. */
  readonly leftOut: readonly FileRow[];
}

async function sendFile(
  { terminal, options, positionals: [path = ""] }: CommandCall,
  client: Client,
  { name, content, mapping, seen, unset, leftOut }: ReadyFile,
): Promise<void> {
  const { isDry, lists, waits, hasTrial, isShown } = wayOf(options);
  const { ids, tried } = seen ?? {};
  const start = (dryRun: boolean): Promise<Upload> =>
    client.uploads.upload(content, { filename: name, dryRun, ...(mapping !== undefined && { mapping }) });
  const endOf = (upload: Upload, label: string): Promise<UploadJob> =>
    withProgress(terminal, label, "rows", (update) =>
      upload.wait({ onProgress: (now) => update(now.succeeded_rows + now.failed_rows, now.total_rows) }),
    );
  // An import doesn't fail because of what is shown beside the counts of its trial.
  const noted = (what: string) => (error: unknown) => terminal.note(`${what}: ${plainReason(error)}`);
  const show = async (trial: UploadJob) => {
    const cells = seen ? undecidedIn(trial, seen) : [];
    const rows = await readTrialRows(client.uploads.results(trial.id), trial, cells).catch((error: unknown) => {
      if (cells.some(({ isCompletion }) => isCompletion)) throw error;
      noted("no examples")(error);
      return { examples: [], created: [], reopened: 0 };
    });
    if (tried) await noteTrial(terminal, client, trial, rows, tried).catch(noted("no examples"));
    if (isShown) noteEmptyCells(terminal, trial, cells);
    const alike = await noteAlike(terminal, client, trial, rows).catch(noted("new IDs weren't compared"));
    return { reopened: rows.reopened, alike: alike ?? 0 };
  };
  for (const file of Object.values(lists)) await removeEarlierList(path, file);
  if (!isDry && hasTrial) {
    const trial = await endOf(await start(true), "trial");
    const hasCompleted = trial.status === "completed";
    if (hasCompleted) noteCounts(terminal, trial);
    const found = hasCompleted && { ...(await show(trial)), ids, unset, leftOut };
    if (!found || !(await confirmed(terminal, trial, found, options["yes"] === true))) {
      printJob(terminal, trial, options);
      terminal.exitCode = hasCompleted ? EXIT.notConfirmed : EXIT.failed;
      return;
    }
  }
  const upload = await start(isDry);
  let { job } = upload;
  if (waits) {
    terminal.note(`Import ${upload.id} started. It continues if you stop this command.`);
    job = await endOf(upload, "import");
    if (isDry && job.status === "completed") await show(job);
    await saveList(terminal, client, upload.id, "failed_rows", lists.failed_rows);
    await saveList(terminal, client, upload.id, "results", lists.results);
  }
  printOutcome(terminal, job, options);
}

async function runImport(call: CommandCall, path: string, file: CsvFile, given: Mapping | undefined): Promise<void> {
  const { terminal, options } = call;
  const client = call.client();
  const mapping = await mappingOf(given, file);
  const used = await usedMapping(client, mapping);
  const name = path === STANDARD_INPUT ? "standard-input.csv" : basename(path);
  if (used === undefined) {
    return sendFile(call, client, { name, content: file.blob, mapping, seen: undefined, unset: [], leftOut: [] });
  }
  const { hasTrial, isShown } = wayOf(options);
  const isKept = options["withTotals"] === true;
  if (isKept && options["withoutTotals"] === true) throw new UsageError("--with-totals and --without-totals differ");
  const changes = { fill: textsOption(options, "fill"), leavesOutTotals: !isKept };
  const first = await lookThrough(terminal, file.blob, used, { survey: true, values: isShown });
  const leftOut = isKept ? [] : totalsOf(first);
  const changed = await changedFile(terminal, file.blob, first, changes);
  try {
    const content = changed?.blob ?? file.blob;
    // Filled columns have fewer empty cells, IDs may be others, and rows that are left out have no IDs and values.
    const seen = changed ? await lookThrough(terminal, content, used, { survey: hasTrial, values: isShown }) : first;
    if (seen.ids) noteIds(terminal, seen.ids);
    const unset = given === undefined ? [] : unsetTargets({ names: seen.names, mapping: used });
    for (const line of notFoundLines(unset)) terminal.note(line);
    // Who names the option has decided.
    const doubted = options["withoutTotals"] === true ? [] : leftOut;
    await sendFile(call, client, { name, content, mapping, seen, unset, leftOut: doubted });
  } finally {
    await changed?.close();
  }
}

export const importCommand: Command = {
  arguments: "<file>",
  summary: "import a CSV file or a workbook from any system; - reads the standard input",
  options: {
    "--mapping <file>": "JSON file that maps columns to fields",
    "--propose <file>": "write a proposed mapping to this file and import nothing",
    "--time-zone <zone>": "for --propose: time zone of dates without one, for example Europe/Berlin",
    "--dates <order>": "for --propose: day-first, month-first, year-first or unix, where dates don't show it",
    "--fill <columns...>": "give empty cells of these columns the value above, as in a grouped report",
    "--without-totals": "leave out rows that look like totals, notes or repeated headers, without asking",
    "--with-totals": "import such rows too",
    "--dry-run": "trial run: show what would happen, save nothing",
    "--yes":
      "import without asking, even if IDs repeat, existing items would change or fields are not found (for scripts)",
    "--no-trial": "import without a trial run first, and without asking",
    "--wait": "wait until the job ends",
    "--errors <file>": "wait, then write the failed rows to this file; an earlier one is removed first",
    "--results <file>": "wait, then write the result of each row to this file; an earlier one is removed first",
    "--delimiter <delimiter>": '"," ";" "|" or tab (default: detected)',
    "--encoding <encoding>":
      "for example windows-1252 (default: UTF-8 or UTF-16; for others, the candidates are shown)",
    "--sheet <name>": "sheet of a workbook (default: the first with rows)",
    "--without-hidden": "leave out rows that the sheet hides, for example by a filter",
    "--json": "print the job as JSON",
  },
  examples: [
    "import tickets.csv --propose mapping.json --time-zone Europe/Berlin",
    "import tickets.csv --mapping mapping.json --dry-run --wait",
    "import tickets.csv --mapping mapping.json --errors failed.csv",
    "import tickets.csv --mapping mapping.json --yes --wait",
    "import tickets.csv --mapping mapping.json --fill Status --wait",
    "import - --mapping mapping.json --wait < tickets.csv",
    "import tickets.xlsx --sheet June --mapping mapping.json --wait",
  ],
  run: async (call) => {
    const {
      terminal,
      options,
      positionals: [path = ""],
    } = call;
    const mapping = await givenMapping(options);
    const known = {
      encoding: textOption(options, "encoding"),
      delimiter: knownDelimiter(options, mapping),
      sheet: textOption(options, "sheet"),
      withoutHidden: options["withoutHidden"] === true,
    };
    const file = await openCsv(path, known, terminal.stdin);
    try {
      if (file.readAs !== undefined) terminal.note(`${path} is read as ${file.readAs}`);
      for (const note of file.notes) terminal.note(note);
      const propose = textOption(options, "propose");
      if (propose === undefined) return await runImport(call, path, file, mapping);
      await writeProposal(terminal, file, propose, options);
      terminal.note(
        `wrote a proposed mapping to ${propose}; check it, then run: import ${path} --mapping ${propose} --dry-run --wait`,
      );
    } finally {
      await file.close();
    }
  },
};
