import type { RowOutcome } from "../../work-items/upload-mark.ts";
import { toCell } from "../csv/csv-text.ts";
import { COMMA } from "../csv/delimiter.ts";
import { BYTE_ORDER_MARK } from "../csv/header-names.ts";

/** The header of a list of results. */
export const RESULTS_HEADER = `${BYTE_ORDER_MARK}_row,external_id,id,outcome\n`;

/** The line of a row in a list of results. @param result with the item's id, which is empty if the row failed */
export function resultLine(
  { row }: { readonly row: number },
  { externalId, id, outcome }: { readonly externalId: string; readonly id: string; readonly outcome: RowOutcome },
): string {
  return `${row},${toCell(externalId, COMMA)},${id},${outcome}\n`;
}
