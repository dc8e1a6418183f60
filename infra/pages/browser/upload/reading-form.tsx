import { type Delimiter, DELIMITERS } from "../../../../lib/uploads/csv/delimiter.ts";
import { EncodingForm } from "./encoding-form.tsx";
import { Choice } from "./parts.tsx";
import { isBlank } from "./read-text.ts";
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
  if (text?.format.doubt) return <EncodingForm table={table} text={text} onRead={onRead} />;
  const separate = (by: Delimiter): void => {
    const { file, format, asked } = text!;
    void readTextFile(file, { encoding: format.encoding, delimiter: by }, asked).then(onRead);
  };
  return (
    <div class="fields">
      {text && (
        <>
          <EncodingForm table={table} text={text} onRead={onRead} />
          <Choice
            label="Columns are separated by"
            value={delimiter}
            options={DELIMITER_OPTIONS}
            onChange={(chosen) => separate(chosen as Delimiter)}
          />
        </>
      )}
      {workbook && (
        <Choice
          label="Sheet"
          value={workbook.sheet}
          options={workbook.sheets.map(({ name, isHidden }) => [name, isHidden ? `${name} (hidden)` : name])}
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
