import { type Delimiter, DELIMITERS } from "../../../../lib/uploads/csv/delimiter.ts";
import { Choice } from "./parts.tsx";
import { ENCODINGS, isBlank } from "./read-text.ts";
import { chooseSheet, readTextFile, type TableFile, withHeaderRow } from "./table-file.ts";

const DELIMITER_OPTIONS = Object.entries(DELIMITERS).map(
  ([delimiter, name]) => [delimiter, name[0]!.toUpperCase() + name.slice(1)] as const,
);
/** Rows that can be chosen as the header. */
const OFFERED_ROWS = 30;
const SHOWN_CHARACTERS = 50;

function headerOptions({ lines, headerRow }: TableFile): (readonly [string, string])[] {
  return lines.flatMap((cells, index) => {
    const isOffered = index < OFFERED_ROWS || index === headerRow - 1;
    if (!isOffered || isBlank(cells)) return [];
    const text = cells.filter((cell) => cell.trim() !== "").join(", ");
    const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
    return [[String(index + 1), `Row ${index + 1}: ${shown}`] as const];
  });
}

/** How the file is read: what was found, to be changed where it is wrong. */
export function ReadingForm({
  table,
  onRead,
}: {
  readonly table: TableFile;
  readonly onRead: (table: TableFile) => void;
}) {
  const { text, workbook, delimiter, headerRow } = table;
  const again = (choice: { readonly encoding?: string; readonly delimiter?: Delimiter }): void => {
    if (text) void readTextFile(text.file, { encoding: text.format.encoding, delimiter, ...choice }).then(onRead);
  };
  return (
    <div class="fields">
      {text && (
        <>
          <Choice
            label="Encoding"
            value={text.format.encoding}
            options={Object.entries(ENCODINGS)}
            onChange={(encoding) => again({ encoding })}
          />
          <Choice
            label="Columns are separated by"
            value={delimiter}
            options={DELIMITER_OPTIONS}
            onChange={(chosen) => again({ delimiter: chosen as Delimiter })}
          />
        </>
      )}
      {workbook && (
        <Choice
          label="Sheet"
          value={workbook.sheet}
          options={workbook.sheets.map(({ name }) => [name, name])}
          onChange={(sheet) => onRead(chooseSheet(table, sheet))}
        />
      )}
      <Choice
        label="Header"
        value={String(headerRow)}
        options={headerOptions(table)}
        onChange={(row) => onRead(withHeaderRow(table, Number(row)))}
      />
    </div>
  );
}
