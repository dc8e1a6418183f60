import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { comparable, isReportColumn, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { columnsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { FileRow } from "../ids/repeated-ids.ts";
import { SURELY_EMPTY, wordsOf } from "./certainty.ts";
import { type Answers, chooseColumns } from "./choose-columns.ts";
import type { ChosenColumn } from "./column-choices.ts";
import { doubtsOfLetters } from "../letters/lost-letters.ts";
import { doubtsOfLost, isEmptyWord } from "./empty-words.ts";
import { isMeasure } from "./id-columns.ts";
import { doubtOfJoined } from "./joined-rows.ts";
import { isKeptBeside, keptColumns, repeatedNames } from "./kept-columns.ts";
import { CHOICE_FIELDS, unknownIn } from "./known-choices.ts";
import { firstSpellings, plainWords } from "./known-headers.ts";
import { type TimeQuestion, withoutZone } from "./propose-time.ts";
import { type FileColumn, type Survey, surveyOf, totalsIn } from "./survey.ts";

/** The header of a file and its first rows. */
export interface Sample extends Answers {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: Delimiter;
  /** Number of the header's row. @default 1 */
  readonly headerRow?: number;
  /** What is known from all rows. @default what the first rows show */
  readonly survey?: Survey | undefined;
}

/** A column of a file, and what it is proposed to become. */
export interface ProposedColumn extends ChosenColumn {
  /** Its index in the file. */
  readonly index: number;
  /** Its name in mappings. */
  readonly column: string;
}

/** A mapping for a file, with its reasons and doubts. */
export interface Proposal {
  readonly mapping: Mapping;
  /** All columns of the file, in order. */
  readonly columns: readonly ProposedColumn[];
  /** What may be wrong with the file itself; undefined without doubt. */
  readonly fileDoubt?: string | undefined;
  /** Texts for fields with choices whose meaning a person has to choose. */
  readonly unknownWords?: readonly { readonly target: string; readonly words: readonly string[] }[];
  /** What a person has to answer before the file is imported. */
  readonly questions?: readonly TimeQuestion[];
  /** Rows that aren't items, such as sums. */
  readonly totals?: readonly FileRow[];
}

/** A text in quotation marks that aren't those of CSV. */
const IN_OTHER_MARKS = /^['`´„‚\p{Pi}].*['`´“‘\p{Pi}\p{Pf}]$/su;

/** Why the header may be a row of data: the name of a column is also one of its values. Or all names are in marks. */
function doubtOfHeader(columns: readonly FileColumn[]): string | undefined {
  const [first] = columns;
  if (first && columns.every(({ name }) => IN_OTHER_MARKS.test(name))) {
    return (
      `the file has ${first.name[0]} around names, and perhaps around values, as a part of them. ` +
      "If so, save it with straight double quotation marks"
    );
  }
  const found = columns.find(({ name, values }) => values.some((value) => value.trim() === name.trim()));
  return (
    found && `the header may be a row of data: "${found.name}" is also a value of its column. If so, add a header row`
  );
}

/** What lost its letters or values in the columns that are kept as attributes. */
function doubtOfKept(free: readonly { readonly index: number; readonly name: string }[], { columns }: Survey) {
  return free.flatMap(({ index, name }) => {
    const { lost, emptyWords } = columns[index]!;
    const [doubt] = [...doubtsOfLetters(lost), ...doubtsOfLost(emptyWords)];
    return doubt === undefined ? [] : [`in "${name}", ${doubt}`];
  })[0];
}

/** Proposes a mapping for a file, by the names and values of its columns. */
export function proposeMapping(sample: Sample): Proposal {
  const { names, rows, delimiter, headerRow = 1 } = sample;
  const survey = sample.survey ?? surveyOf(names, rows, headerRow + 1, delimiter);
  const odd = new Set(survey.totals.map(({ row }) => row));
  const filled = rows.filter(
    (cells, index) => cells.some((cell) => cell.trim() !== "") && !odd.has(headerRow + 1 + index),
  );
  const cellsOf = (index: number): readonly string[] => filled.map((cells) => cells[index] ?? "");
  const all = numberedNames(names).map((name, index) => ({ name, index }));
  const named = all.filter(({ name }) => name !== "" && !isReportColumn(name));
  const repeated = repeatedNames(named);
  const columns = named
    .filter(({ name }) => !repeated.has(comparable(name)))
    .map(({ name, index }): FileColumn => ({
      index,
      name,
      // From the header: in mappings, the second of two equal names has a number.
      words: plainWords(withoutZone(names[index]!.trim())),
      cells: cellsOf(index),
      values: cellsOf(index).filter((cell) => cell.trim() !== "" && !isEmptyWord(cell.trim())),
      survey: survey.columns[index]!,
    }));
  const choices = chooseColumns(columns, survey, sample);
  const { external_id: id, ...others } = Object.fromEntries(choices.sources);
  const fields = { ...(id && { external_id: id }), ...others };
  const hasNameless = all.some(({ name, index }) => name === "" && survey.columns[index]!.filledRows > 0);
  const time = choices.sources.get("completed_at");
  const later = time?.first_of?.slice(1).flatMap(columnsOf) ?? [];
  const free = named.flatMap((column) => {
    const target = choices.columns.get(column.index)?.target;
    if (target === undefined) return [column];
    return isKeptBeside(target, column.name, later.includes(column.name)) ? [{ ...column, isUsed: true }] : [];
  });
  const markOf = ({ index, name }: (typeof free)[number]) =>
    isMeasure(plainWords(name)) ? survey.columns[index]!.decimal : undefined;
  const marks = new Set(free.map(markOf));
  const isUnix = [time, ...(time?.first_of ?? [])].some((source) => source?.format?.startsWith("unix"));
  // Between commas as delimiters, "1,5" may be a list. Seconds have the same decimal mark as numbers.
  const decimal = delimiter !== "," && marks.has(",") && !marks.has(".") && !isUnix ? "," : ".";
  const read = free.map((column) => ({ ...column, isNumber: ["", decimal].includes(markOf(column) ?? "none") }));
  const kept = keptColumns(read, fields, hasNameless);
  const emptyWords = new Set(survey.columns.flatMap((column) => [...column.emptyWords.keys()].map(comparable)));
  const empty = [...SURELY_EMPTY].filter((word) => emptyWords.has(word));
  return {
    mapping: {
      fields: { ...fields, ...kept.fields },
      others: kept.others,
      ...(empty.length > 0 && { empty }),
      ...(headerRow !== 1 && { header_row: headerRow }),
      ...(delimiter !== "," && { delimiter }),
      ...(decimal === "," && { decimal }),
    },
    columns: all.map(({ name, index }): ProposedColumn => ({ index, column: name, ...choices.chosen(index) })),
    fileDoubt: doubtOfJoined(survey.joined) ?? doubtOfHeader(columns) ?? doubtOfKept(free, survey),
    unknownWords: CHOICE_FIELDS.flatMap((target) => {
      const column = columns.find(({ index }) => choices.columns.get(index)?.target === target);
      const words = column ? firstSpellings(unknownIn(target, wordsOf(column))) : [];
      return words.length > 0 ? [{ target, words }] : [];
    }),
    questions: choices.questions,
    totals: totalsIn(survey, names, { fields }),
  };
}
