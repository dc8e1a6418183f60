import { ATTRIBUTE_PREFIX } from "../../../lib/uploads/csv/target.ts";
import type { Mapping } from "../../../lib/uploads/mapping/mapping.ts";
import type { Proposal, ProposedColumn } from "../../../lib/uploads/mapping/propose-mapping.ts";

function shown({ column, target = "", reason }: ProposedColumn): string {
  return `"${column}" as ${target} (${reason})`;
}

/** The columns whose field is only likely, for a person to check. */
function likelyColumns({ columns }: Proposal): string[] {
  return columns.filter(({ certainty }) => certainty === "likely").map(shown);
}

/** The columns that are no field: they are kept as custom attributes, or left out. */
function otherColumns(columns: readonly ProposedColumn[], { fields = {}, others }: Mapping): string[] {
  return columns
    .filter(({ target }) => target === undefined)
    .flatMap(({ column, index }) => {
      if (column === "") return others === "ignore" ? [`left out: column ${index + 1}, which has no header`] : [];
      const isKept = others === "custom_attributes" || ATTRIBUTE_PREFIX + column in fields;
      return [`${isKept ? "custom attribute" : "left out"}: "${column}"`];
    });
}

/** What the proposal takes for granted although the file doesn't say it. */
function assumptions({ fields = {}, empty = [] }: Mapping): string[] {
  const zones = Object.values(fields).flatMap(({ column, time_zone: zone }) =>
    zone === undefined
      ? []
      : [`assumed, please check: times of "${column}" without a UTC offset are in ${zone} (time_zone)`],
  );
  const words = empty.map((word) => `"${word}"`).join(", ");
  return [
    ...zones,
    ...(words === "" ? [] : [`assumed, please check: in every column these values are empty: ${words}`]),
  ];
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
    ...otherColumns(columns, mapping),
    ...assumptions(mapping),
    ...(texts.length > 0 ? [`choose in "values" of status what these mean: ${texts.join(", ")}`] : []),
    ...(mapping.fields?.["external_id"] === undefined
      ? ["no column identifies the items: add external_id to the fields of the mapping"]
      : []),
  ];
}
