import { useState } from "preact/hooks";
import { Alert, Table } from "./parts.tsx";
import { isBlank } from "./read-text.ts";
import { ReadingForm } from "./reading-form.tsx";
import type { EarlierMapping } from "./send.ts";
import { countOf, shownBytes } from "./shown.ts";
import type { TableFile } from "./table-file.ts";

const SHOWN_ROWS = 5;

/** Takes a file, by a button or dropped. */
function FileField({ onFile }: { readonly onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
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
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) onFile(file);
      }}
    >
      <span class="button">Choose a file</span> or drop it here: CSV in any usual encoding, or an Excel workbook (.xlsx)
      <input
        type="file"
        class="hidden"
        accept=".csv,.tsv,.txt,.xlsx,text/csv"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) onFile(file);
        }}
      />
    </label>
  );
}

/** The first step: a file, how it is read, and its first rows. */
export function FileStep({
  table,
  earlier,
  isReading,
  error,
  onFile,
  onRead,
  onForget,
  onContinue,
}: {
  readonly table: TableFile | undefined;
  /** The mapping to begin with, in place of a proposal. */
  readonly earlier: EarlierMapping | undefined;
  readonly isReading: boolean;
  /** Why the file can't be read. */
  readonly error: string | undefined;
  readonly onFile: (file: File) => void;
  /** Called with the same file, read in another way. */
  readonly onRead: (table: TableFile) => void;
  readonly onForget: () => void;
  readonly onContinue: () => void;
}) {
  return (
    <section aria-labelledby="file">
      <h2 id="file" tabIndex={-1}>
        1. Choose a file
      </h2>
      {earlier && (
        <p role="status">
          Using the mapping of {earlier.fileName}.{" "}
          <button type="button" class="plain" onClick={onForget}>
            Use a proposal instead
          </button>
        </p>
      )}
      <FileField onFile={onFile} />
      {isReading && <p role="status">Reading the file…</p>}
      {!table && <Alert text={error} />}
      {table && (
        <>
          <p role="status">
            <strong>{table.name}</strong>: {shownBytes(table.size)}
            {!table.text?.format.doubt && `, ${countOf(table.names.length, "column")}`}.
          </p>
          <ReadingForm table={table} onRead={onRead} />
          {!table.text?.format.doubt && (
            <>
              <Table
                caption="The first rows of the file"
                columns={table.names}
                rows={table.rows.filter((row) => !isBlank(row)).slice(0, SHOWN_ROWS)}
              />
              <button type="button" class="main" disabled={isReading} onClick={onContinue}>
                Continue
              </button>
            </>
          )}
        </>
      )}
    </section>
  );
}
