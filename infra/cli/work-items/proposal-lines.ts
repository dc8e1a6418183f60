import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import type { Proposal, ProposedColumn } from "../../../lib/uploads/mapping/propose-mapping.ts";

function shown({ column, target = "", reason }: ProposedColumn): string {
  return `"${column}" as ${target} (${reason})`;
}

/** The columns whose field is only likely, for a person to check. */
export function likelyColumns({ columns }: Proposal): string[] {
  return columns.filter(({ certainty }) => certainty === "likely").map(shown);
}

function leftColumns(columns: readonly ProposedColumn[], others: Mapping["others"]): string[] {
  const left = columns.filter(({ target, column }) => target === undefined && column !== "");
  const kept = others === "custom_attributes" ? "custom attribute" : "left out";
  return left.map(({ column }) => `${kept}: "${column}"`);
}

/** How many texts of a status are shown. */
const SHOWN = 10;

/** What each column of a file is proposed to become, a line each: what is certain, what to check, and what is kept. */
export function proposalLines(proposal: Proposal): string[] {
  const { columns, mapping, headerDoubt, unknownStatuses = [] } = proposal;
  const texts = unknownStatuses.slice(0, SHOWN).map((text) => `"${text}"`);
  const certain = columns.filter(({ certainty }) => certainty === "certain").map(shown);
  return [
    ...(headerDoubt === undefined ? [] : [`please check: ${headerDoubt}`]),
    ...certain.map((line) => `certain: ${line}`),
    ...likelyColumns(proposal).map((line) => `likely, please check: ${line}`),
    ...leftColumns(columns, mapping.others),
    ...(texts.length > 0 ? [`choose in "values" of status what these mean: ${texts.join(", ")}`] : []),
    ...(mapping.fields?.["external_id"] === undefined
      ? ["no column identifies the items: add external_id to the fields of the mapping"]
      : []),
  ];
}
