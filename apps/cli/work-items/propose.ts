import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { withChanges } from "@work-items/importer/files/records.ts";
import { cleanIds } from "@work-items/importer/files/change-rows.ts";
import { cleaningFor, idColumn } from "@work-items/importer/ids/clean-ids.ts";
import { proposeMapping } from "@work-items/importer/proposals/propose-mapping.ts";
import { DATE_ORDERS, type DateOrder } from "@work-items/importer/proposals/propose-time.ts";
import { RowSurvey } from "@work-items/importer/proposals/survey.ts";
import { isTimeZone } from "@work-items/lib/uploads/mapping/time-zone.ts";
import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { CommandError, UsageError } from "@work-items/terminal/command-line.ts";
import { unsetTargets } from "@work-items/importer/proposals/target-states.ts";
import { askTargets, isPersonAt, notFoundLines, type SurveyedSample } from "./ask-targets.ts";
import { withBar } from "../progress-bar.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { type Options, textOption } from "./command.ts";
import { type CsvFile, keep, readSample } from "./open-csv.ts";
import { openQuestions, proposalLines } from "./proposal-lines.ts";
import { noteCleaning, noteGroups } from "./survey-file.ts";

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

/** What a file shows, with the IDs as they will be imported. */
async function sampled(
  terminal: Terminal,
  file: Pick<CsvFile, "blob" | "delimiter" | "cut">,
  options: Options,
): Promise<SurveyedSample> {
  const dateOrder = dateOrderOf(options);
  const chosenZone = timeZoneOf(options);
  const first = await readSample(file, SAMPLE_ROWS);
  const survey = new RowSurvey(first.names, first.rows, first.delimiter, file.cut);
  const isWhole = await withBar(terminal, "reading [{bar}] {percentage} %", {}, (update) => {
    const onProgress = (bytes: number): void => update(bytes, file.blob.size);
    return observeRows(file.blob.stream(), { ...first, onProgress }, () => [survey]);
  });
  const sample = {
    ...first,
    survey: survey.result(isWhole),
    timeZone: chosenZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    isZoneChosen: chosenZone !== undefined,
    dateOrder,
    now: terminal.clock(),
  };
  const column = idColumn(proposeMapping(sample).mapping, sample.names);
  const cleaning = cleaningFor(column, sample.survey.ids.get(column));
  if (!cleaning) return sample;
  noteCleaning(terminal, cleaning, sample.names);
  const cleaned = withChanges(file.blob, cleanIds({ ...cleaning, headerRow: sample.headerRow }, sample.delimiter));
  const kept = await keep(Readable.fromWeb(cleaned as never));
  try {
    return await sampled(terminal, { ...file, blob: kept.blob }, options);
  } finally {
    await kept.close();
  }
}

/**
 * Writes a proposed mapping for a file and describes it.
 * @throws CommandError if a date can be read in two ways or its time zone isn't known, and no option or answer decides
 */
export async function writeProposal(terminal: Terminal, file: CsvFile, path: string, options: Options): Promise<void> {
  const sample = await sampled(terminal, file, options);
  noteGroups(terminal, sample);
  const isAsked = isPersonAt(terminal) && options["yes"] !== true;
  const proposal = isAsked ? await askTargets(terminal, sample) : proposeMapping(sample);
  for (const line of proposalLines(proposal)) terminal.note(line);
  for (const line of notFoundLines(unsetTargets({ ...sample, ...proposal }))) terminal.note(line);
  const questions = openQuestions(proposal);
  if (questions.length > 0) throw new CommandError(`${questions.join(" ")} No mapping was written.`);
  await writeFile(path, `${JSON.stringify(proposal.mapping, null, 2)}\n`);
}
