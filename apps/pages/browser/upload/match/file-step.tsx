import { useState } from "preact/hooks";
import { encodingName, ENCODINGS, UTF_8 } from "@work-items/importer/letters/encodings.ts";
import { shownHidden } from "@work-items/importer/files/sheet-notes.ts";
import type { EncodingDoubt } from "@work-items/importer/files/text-file.ts";
import { type Delimiter, DELIMITERS } from "@work-items/lib/uploads/csv/delimiter.ts";
import { Alert, Button, Choice, type Options, Question, Table } from "../parts/parts.tsx";
import { countOf, shownBytes, shownPart, shownStart } from "../parts/shown.ts";
import {
  asSentence,
  type HiddenRows,
  hiddenIn,
  isAsked,
  isBlank,
  readTextFile,
  type TableFile,
  unfilled,
  withHeaderRow,
  withHidden,
  withSheet,
} from "../file/table-file.ts";
import { useWork } from "../parts/use-calls.ts";
import type { useImport } from "../file/use-import.ts";

const SHOWN_ROWS = 5;
/** How many rows can be chosen as the header. */
const OFFERED_ROWS = 30;
const SHOWN_CHARACTERS = 50;
function nameOfDelimiter(delimiter: Delimiter): string {
  const name = DELIMITERS[delimiter];
  return name.charAt(0).toUpperCase() + name.slice(1);
}
const DELIMITER_OPTIONS = (Object.keys(DELIMITERS) as Delimiter[]).map(
  (delimiter) => [delimiter, nameOfDelimiter(delimiter)] as const,
);

/** Takes a file that is chosen or dropped. */
function FileField({ onFile }: { readonly onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    setOver(false);
    if (files?.[0]) onFile(files[0]);
  };
  return (
    <label
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files);
      }}
    >
      <span class="button main">Choose a file</span> or drop it here: a CSV file or an Excel workbook (.xlsx)
      <input
        type="file"
        class="hidden"
        accept=".csv,.tsv,.txt,.xlsx,text/csv"
        onClick={({ currentTarget }) => {
          // So that the same file can be chosen again after it was saved.
          currentTarget.value = "";
        }}
        onChange={({ currentTarget }) => take(currentTarget.files)}
      />
    </label>
  );
}

/** What to do about a file whose encoding is unclear. */
function adviceOf({ likely }: EncodingDoubt): string {
  if (likely.length > 0)
    return "Choose the encoding in which these values are right. If none is, save the file as UTF-8.";
  return "Save the file as UTF-8 and choose it again.";
}

interface ReadingProps {
  readonly table: TableFile;
  /** Called with the same file, read in another way. */
  readonly onRead: (table: TableFile | Promise<TableFile>) => unknown;
}

/** The encoding of a text file. If it is in doubt, samples show how values read in the likely encodings. */
function EncodingForm({ table, text, onRead }: ReadingProps & { readonly text: NonNullable<TableFile["text"]> }) {
  const { file, format, asked } = text;
  const { isRunning, error, run } = useWork();
  // Shown while the file is read with it.
  const [choice, setChoice] = useState<string>();
  const choose = (encoding: string): void => {
    setChoice(encoding);
    // While the encoding is in doubt, the delimiter is only a guess.
    const known = format.doubt ? { encoding } : { encoding, delimiter: table.delimiter };
    void run(async () => onRead(await readTextFile(file, known, asked)));
  };
  const options = Object.entries(ENCODINGS).filter(([encoding]) => encoding !== UTF_8 || !asked);
  if (!asked) {
    return (
      <>
        <Choice label="Encoding" value={format.encoding} options={options} onChange={choose} />
        <Alert text={error} />
      </>
    );
  }
  const found = format.doubt ? undefined : format.encoding;
  const chosen = isRunning ? choice : found;
  const isLikely = (encoding: string): boolean => asked.likely.some((each) => each.encoding === encoding);
  return (
    <Question
      text="Which encoding does this file have?"
      answers={asked.likely.map(({ encoding, values }) => [
        encoding,
        encodingName(encoding),
        values.map((value) => `“${value}”`),
      ])}
      chosen={chosen}
      onChoose={choose}
      note={
        <p class={chosen === undefined ? "unchecked" : "note"} role="status">
          {asSentence(asked.problem)} {adviceOf(asked)}
        </p>
      }
    >
      {(picked, pick) => (
        <>
          <Choice
            label={asked.likely.length > 0 ? "Another encoding" : "Encoding"}
            value={picked === undefined || isLikely(picked) ? "" : picked}
            options={[["", "Choose…"], ...options.filter(([encoding]) => !isLikely(encoding))]}
            onChange={(encoding) => encoding !== "" && pick(encoding)}
          />
          <Alert text={error} />
        </>
      )}
    </Question>
  );
}

/** The first columns of a table, in quotes. */
function shownNames(names: readonly string[]): string {
  return names.flatMap((name) => (name.trim() === "" ? [] : `“${shownStart(name, SHOWN_CHARACTERS)}”`)).join(" ");
}

function headerOptions({ lines, headerRow }: TableFile): Options {
  return lines.flatMap((cells, index) => {
    const isOffered = index < OFFERED_ROWS || index === headerRow - 1;
    if (!isOffered || isBlank(cells)) return [];
    const text = cells.filter((cell) => cell.trim() !== "").join(", ");
    return [[String(index + 1), `Row ${index + 1}: ${shownStart(text, SHOWN_CHARACTERS)}`] as const];
  });
}

/** Asks whether to import the rows that a sheet hides. */
function HiddenRowsQuestion({ table, onRead }: ReadingProps) {
  const rows = hiddenIn(unfilled(table));
  if (rows.length === 0) return null;
  return (
    <Question
      text={`${shownHidden(rows.length)}. Import ${rows.length === 1 ? "it" : "them"} too?`}
      answers={[
        ["import", "Import all rows"],
        ["leave out", "Leave out hidden rows"],
      ]}
      chosen={table.workbook?.hidden}
      onChoose={(hidden) => onRead(withHidden(table, hidden as HiddenRows))}
    />
  );
}

/** How the file is read, with fields to correct it. */
function ReadingForm({ table, onRead }: ReadingProps) {
  const { text, workbook, delimiter, headerRow } = table;
  if (text?.format.doubt) return <EncodingForm table={table} text={text} onRead={onRead} />;
  const separate = (by: string): unknown => {
    const { file, format, asked } = text!;
    return onRead(readTextFile(file, { encoding: format.encoding, delimiter: by as Delimiter }, asked));
  };
  const choose = (sheet: string): unknown => onRead(withSheet(table, workbook?.sheets ?? [], sheet));
  if (workbook?.asked) {
    const answers = workbook.asked.map(({ sheet, names }) => [sheet, `${sheet}: ${shownNames(names)}`] as const);
    return <Question text="Which sheet has the items?" answers={answers} onChoose={choose} />;
  }
  if (text && isAsked(table)) {
    const answers = text.format.delimiters.map(
      (each) => [each.delimiter, `${nameOfDelimiter(each.delimiter)}: ${shownNames(each.names)}`] as const,
    );
    return <Question text="What separates the columns of this file?" answers={answers} onChoose={separate} />;
  }
  return (
    <>
      <div class="fields">
        {text && (
          <>
            <EncodingForm table={table} text={text} onRead={onRead} />
            <Choice
              label="Columns are separated by"
              value={delimiter}
              options={DELIMITER_OPTIONS}
              onChange={separate}
            />
          </>
        )}
        {workbook && (
          <Choice
            label="Sheet"
            value={workbook.sheet}
            options={workbook.sheets.map(({ name, isHidden }) => [name, isHidden ? `${name} (hidden)` : name])}
            onChange={choose}
          />
        )}
        <Choice
          label="Header"
          value={String(headerRow)}
          options={headerOptions(table)}
          onChange={(row) => onRead(withHeaderRow(table, Number(row)))}
        />
      </div>
      <HiddenRowsQuestion table={table} onRead={onRead} />
    </>
  );
}

/** The first step: a file, how it is read, and its first rows. */
export function FileStep({ flow }: { readonly flow: ReturnType<typeof useImport> }) {
  const { table, error, scanned, stopScan, take, readAgain, open, earlier, onForget } = flow;
  const isReading = scanned !== undefined;
  const isOpen = table !== undefined && isAsked(table);
  return (
    <section aria-labelledby="file">
      <h2 id="file" tabIndex={-1}>
        1. Choose a file
      </h2>
      {earlier && (
        <p role="status">
          Using the mapping of {earlier.file_name ?? "an earlier file"}.{" "}
          <Button kind="plain" onClick={onForget}>
            Use a proposal instead
          </Button>
        </p>
      )}
      <FileField onFile={(file) => void take(file)} />
      {isReading && <p role="status">Reading the file…</p>}
      {!table && <Alert text={error} />}
      {table && (
        <>
          <p role="status">
            <strong>{table.name}</strong>: {shownBytes(table.size)}
            {!isOpen && `, ${countOf(table.names.length, "column")}`}.
          </p>
          <ReadingForm table={table} onRead={readAgain} />
          {!isOpen && (
            <>
              <Table
                caption="The first rows of the file"
                columns={table.names}
                rows={table.rows.filter((row) => !isBlank(row)).slice(0, SHOWN_ROWS)}
              />
              <Button kind="main" disabled={isReading} onClick={() => open("Match")}>
                Continue
              </Button>
            </>
          )}
        </>
      )}
      {isReading && scanned > 0 && (
        <p role="status">
          Looking through the file… <progress value={scanned} aria-label="Part of the file that was looked through" />{" "}
          {shownPart(scanned)} <Button onClick={stopScan}>Continue with the rows so far</Button>
        </p>
      )}
    </section>
  );
}
