import { writeFile } from "node:fs/promises";
import { LEFT_OUT, withRepairs } from "@work-items/importer/files/repairs.ts";
import { columnsOf, singlesOf } from "../../../lib/uploads/mapping/check-mapping.ts";
import { comparable, numberedNames } from "../../../lib/uploads/csv/header-names.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import { proposeMapping } from "@work-items/importer/proposals/propose-mapping.ts";
import { DATE_ORDERS, type DateOrder } from "@work-items/importer/proposals/propose-time.ts";
import { type NumberedRow, RowSurvey, totalsIn } from "@work-items/importer/proposals/survey.ts";
import { isTimeZone } from "../../../lib/uploads/mapping/time-zone.ts";
import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { CommandError } from "../../../infra/command-line.ts";
import { unsetTargets } from "@work-items/importer/proposals/target-states.ts";
import { askTargets, isPersonAt, notFoundLines, type SurveyedSample } from "./ask-targets.ts";
import { layoutOf } from "./before-import.ts";
import { withBar } from "../progress-bar.ts";
import type { Terminal } from "../../../infra/terminal.ts";
import { type Options, textOption, UsageError } from "./command.ts";
import { type CsvFile, readSample } from "./open-csv.ts";
import { openQuestions, proposalLines, totalsLines } from "./proposal-lines.ts";

/** Rows by whose values columns are recognized. All rows show what the columns contain. */
const SAMPLE_ROWS = 500;

function dateOrderOf(options: Options): DateOrder | undefined {
  const given = textOption(options, "dates");
  const order = DATE_ORDERS.find((each) => each === given);
  if (given !== undefined && order === undefined) throw new UsageError(`--dates must be ${DATE_ORDERS.join(", ")}`);
  return order;
}

function timeZoneOf(options: Options): string | undefined {
  const zone = textOption(options, "timeZone");
  if (zone !== undefined && !isTimeZone(zone)) {
    throw new UsageError("--time-zone must be an IANA time zone, such as Europe/Berlin");
  }
  return zone;
}

async function sampled(terminal: Terminal, file: CsvFile, options: Options): Promise<SurveyedSample> {
  const dateOrder = dateOrderOf(options);
  const chosenZone = timeZoneOf(options);
  const sample = await readSample(file, SAMPLE_ROWS);
  const survey = new RowSurvey(sample.names, sample.rows);
  const isWhole = await withBar(terminal, "reading [{bar}] {percentage} %", {}, (update) => {
    const onProgress = (bytes: number): void => update(bytes, file.blob.size);
    return observeRows(file.blob.stream(), { ...sample, onProgress }, () => [survey]);
  });
  return {
    ...sample,
    survey: survey.result(isWhole),
    timeZone: chosenZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    isZoneChosen: chosenZone !== undefined,
    dateOrder,
    now: terminal.clock(),
  };
}

/**
 * Writes a proposed mapping for a file and describes it.
 * @throws CommandError if a date can be read in two ways and no option chooses one
 */
export async function writeProposal(terminal: Terminal, file: CsvFile, path: string, options: Options): Promise<void> {
  const sample = await sampled(terminal, file, options);
  const isAsked = isPersonAt(terminal) && options["yes"] !== true;
  const proposal = isAsked ? await askTargets(terminal, sample) : proposeMapping(sample);
  for (const line of proposalLines(proposal)) terminal.note(line);
  for (const line of notFoundLines(unsetTargets({ ...sample, ...proposal }))) terminal.note(line);
  const questions = openQuestions(proposal);
  if (questions.length > 0) throw new CommandError(`${questions.join(" ")} No mapping was written.`);
  await writeFile(path, `${JSON.stringify(proposal.mapping, null, 2)}\n`);
}

/** The index of the first column of the items' IDs; undefined without one. */
function idColumn({ fields = {} }: Mapping, names: readonly string[]): number | undefined {
  const source = fields["external_id"] ?? {};
  const used = singlesOf({ source, path: [] }).flatMap((single) => columnsOf(single.source).map(comparable));
  const index = numberedNames(names).findIndex((name) => used.includes(comparable(name)));
  return index === -1 ? undefined : index;
}

/** The rows of a file that don't look like items with its mapping. */
async function totalsOf({ blob }: CsvFile, mapping: Mapping): Promise<readonly NumberedRow[]> {
  let id: number | undefined;
  let header: readonly string[] = [];
  let survey = new RowSurvey(header);
  await observeRows(blob.stream(), layoutOf(mapping), (names) => {
    header = names;
    id = idColumn(mapping, names);
    survey = new RowSurvey(names);
    return [survey];
  });
  return totalsIn(survey.result(), header, id);
}

/** Prints the rows of a file that don't look like items, before the import. */
export async function noteTotals(terminal: Terminal, file: CsvFile, mapping: Mapping): Promise<void> {
  for (const line of totalsLines(await totalsOf(file, mapping))) terminal.note(line);
}

/** A file with blank lines for rows that aren't items, so that all rows keep their numbers. Prints those rows. */
export async function withoutTotals(terminal: Terminal, file: CsvFile, mapping: Mapping): Promise<Blob> {
  const totals = await totalsOf(file, mapping);
  for (const { row, cells } of totals) terminal.note(`left out: row ${row} (${cells.filter(Boolean).join(", ")})`);
  return withRepairs(file.blob, new Map(totals.map(({ row }) => [row, LEFT_OUT])), layoutOf(mapping).delimiter);
}
