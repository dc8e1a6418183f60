import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { Certainty } from "@work-items/importer/proposals/certainty.ts";
import { orderOf, shownQuestion } from "@work-items/importer/proposals/propose-time.ts";
import type { FileRow } from "@work-items/importer/ids/repeated-ids.ts";
import type { Proposal, ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";

/** Limit of the texts or rows that are shown. */
const SHOWN = 10;

function shown({ column, target = "", reason }: ProposedColumn): string {
  return `"${column}"${target === "" ? "" : ` as ${target}`} (${reason})`;
}

/** The columns without a field: they are kept as custom attributes or left out. */
function otherColumns(columns: readonly ProposedColumn[], { fields = {}, others }: Mapping): string[] {
  return columns
    .filter(({ target }) => target === undefined)
    .flatMap(({ column, index }) => {
      if (column === "") return others === "ignore" ? [`left out: column ${index + 1}, which has no header`] : [];
      const isKept = others === "custom_attributes" || ATTRIBUTE_PREFIX + column in fields;
      return [`${isKept ? "custom attribute" : "left out"}: "${column}"`];
    });
}

/** What the proposal assumes without evidence in the file. */
function assumptions({ mapping }: Proposal): string[] {
  const quotedWords = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(", ");
  const { empty = [], fields = {}, decimal } = mapping;
  const sources = Object.values(fields).flatMap((source) => source.first_of ?? [source]);
  const trimmed = sources.flatMap(({ column, trim }) => (trim === true ? [`"${column}"`] : []));
  const lines = sources.flatMap(({ column, values = {} }) => {
    const words = Object.keys(values).filter((word) => values[word] === "");
    return words.length === 0 ? [] : [`in "${column}" these values are empty: ${quotedWords(words)}`];
  });
  if (trimmed.length > 0) lines.unshift(`spaces around values are removed in ${trimmed.join(", ")}`);
  if (empty.length > 0) lines.push(`in every column these values are empty: ${quotedWords(empty)}`);
  if (decimal === ",") lines.push("numbers have a decimal comma");
  return lines.map((line) => `assumed, please check: ${line}`);
}

/** A row's number and cells. */
export function shownRow({ row, cells }: FileRow): string {
  return `row ${row} (${cells.filter(Boolean).join(", ")})`;
}

/** Some rows: `row 5 (Total, 5) and 2 more`. */
export function shownRows(rows: readonly FileRow[]): string {
  const more = rows.length > SHOWN ? ` and ${rows.length - SHOWN} more` : "";
  return rows.slice(0, SHOWN).map(shownRow).join(", ") + more;
}

/** A line about the rows that don't look like items; none without such rows. */
export function totalsLines(totals: Proposal["totals"] = []): string[] {
  if (totals.length === 0) return [];
  const advice = "an import leaves such rows out, unless it has --with-totals";
  return [`looks like totals, notes or headers, not items: ${shownRows(totals)}; ${advice}`];
}

/** The questions that must be answered before a mapping is written, and the options that answer them. */
export function openQuestions({ questions = [] }: Proposal): string[] {
  return questions.map((question) => {
    if (question.kind === "zone") {
      return `Which time zone are times of "${question.column}" in? Answer with --time-zone, such as --time-zone ${question.timeZone}.`;
    }
    const orders = question.formats.map((format) => `--dates ${orderOf(format)}`).join(" or ");
    return `Which date is "${question.column}" ${shownQuestion(question)} Answer with ${orders}.`;
  });
}

/** Describes a proposal in lines: what is certain, what to check, and what is kept. */
export function proposalLines(proposal: Proposal): string[] {
  const { columns, mapping, fileDoubt, unknownWords = [] } = proposal;
  const shownWith = (wanted: Certainty): string[] => columns.filter(({ certainty }) => certainty === wanted).map(shown);
  return [
    ...(fileDoubt === undefined ? [] : [`please check: ${fileDoubt}`]),
    ...shownWith("certain").map((line) => `certain: ${line}`),
    ...shownWith("likely").map((line) => `likely, please check: ${line}`),
    ...otherColumns(columns, mapping),
    ...assumptions(proposal),
    ...totalsLines(proposal.totals),
    ...unknownWords.map(({ target, words }) => {
      const texts = words.slice(0, SHOWN).map((text) => `"${text}"`);
      return `choose in "values" of ${target} what these mean: ${texts.join(", ")}`;
    }),
    ...(mapping.fields?.["external_id"] === undefined
      ? ["can't tell which column is the ID: add external_id to the fields of the mapping"]
      : []),
  ];
}
