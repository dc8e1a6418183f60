import { useEffect, useMemo, useState } from "preact/hooks";
import { COMMA, type Delimiter, DELIMITERS } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { proposeMapping } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import type { Api } from "./api.ts";
import { checkRows } from "./check-rows.ts";
import { MappingForm } from "./mapping-form.tsx";
import { Alert, Choice, saveFile, Table } from "./parts.tsx";
import { ENCODINGS, isBlank } from "./read-text.ts";
import { type EarlierMapping, send, type Sent } from "./send.ts";
import { chooseSheet, readFile, readTextFile, type TableFile } from "./table-file.ts";
import { sentenceOf, shownNumber } from "./shown.ts";

const SHOWN_ROWS = 5;
const SHOWN_ERRORS = 10;
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const propose = ({ names, rows, delimiter }: TableFile): Mapping =>
  proposeMapping({ names, rows, delimiter, timeZone: TIME_ZONE });

const DELIMITER_OPTIONS = Object.entries(DELIMITERS).map(
  ([delimiter, name]) => [delimiter, name[0]!.toUpperCase() + name.slice(1)] as const,
);

/** How the file is read: what was found, to be changed where it is wrong. */
const Reading = ({ table, onRead }: { readonly table: TableFile; readonly onRead: (table: TableFile) => void }) => {
  const { text, workbook, delimiter } = table;
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
    </div>
  );
};

/** Takes a file, by a button or dropped. */
const FileField = ({ onFile }: { readonly onFile: (file: File) => void }) => {
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
      <span>Choose a file, or drop it here: CSV in any usual encoding, or an Excel workbook (.xlsx)</span>
      <input
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,text/csv"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) onFile(file);
        }}
      />
    </label>
  );
};

/** An earlier mapping for a file, which may have another delimiter. */
const fitted = ({ mapping }: EarlierMapping, { delimiter }: TableFile): Mapping => {
  const { delimiter: earlier = COMMA, ...others } = mapping;
  if (earlier === delimiter) return mapping;
  return delimiter === COMMA ? others : { ...others, delimiter };
};

/** From a file to its import. @param earlier the mapping to begin with, in place of a proposal */
export const ImportView = ({
  api,
  earlier,
  onForget,
  onSent,
}: {
  readonly api: Api;
  readonly earlier: EarlierMapping | undefined;
  readonly onForget: () => void;
  readonly onSent: (sent: Sent) => void;
}) => {
  const [table, setTable] = useState<TableFile>();
  const [isReading, setReading] = useState(false);
  const [mapping, setMapping] = useState<Mapping>({});
  const [error, setError] = useState<string>();
  const [sending, setSending] = useState<number>();
  const checked = useMemo(() => (table ? checkRows(table, mapping) : undefined), [table, mapping]);

  const read = (next: TableFile): void => {
    setTable(next);
    setMapping(earlier ? fitted(earlier, next) : propose(next));
  };
  useEffect(() => {
    if (table) read(table);
  }, [earlier]);
  const take = (file: File): void => {
    setError(undefined);
    setReading(true);
    readFile(file)
      .then(read, (caught: unknown) => {
        setTable(undefined);
        setError(sentenceOf(caught));
      })
      .finally(() => setReading(false));
  };
  const start = async (dryRun: boolean): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      await send(api, { table, mapping, dryRun }, onSent, setSending, earlier);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };

  return (
    <>
      <section aria-labelledby="file">
        <h2 id="file">1. The file</h2>
        {earlier && (
          <p role="status">
            The mapping of {earlier.fileName} is used again.{" "}
            <button type="button" class="plain" onClick={onForget}>
              Propose one instead
            </button>
          </p>
        )}
        <FileField onFile={take} />
        {isReading && <p role="status">Reading the file…</p>}
        {!table && <Alert text={error} />}
        {table && (
          <>
            <p role="status">
              <strong>{table.name}</strong>: {shownNumber(table.size)} bytes, {table.names.length} columns.
            </p>
            <Reading table={table} onRead={read} />
            <Table
              caption="The first rows of the file"
              columns={table.names}
              rows={table.rows.filter((row) => !isBlank(row)).slice(0, SHOWN_ROWS)}
            />
          </>
        )}
      </section>
      {table && checked && (
        <>
          <section aria-labelledby="columns">
            <h2 id="columns">2. What the columns are</h2>
            <MappingForm table={table} mapping={mapping} onChange={setMapping} />
            <details>
              <summary>The mapping as JSON, for the API</summary>
              <pre tabIndex={0}>{JSON.stringify(mapping, null, 2)}</pre>
              <button
                type="button"
                onClick={() => saveFile("mapping.json", new Blob([JSON.stringify(mapping, null, 2)]))}
              >
                Save
              </button>
            </details>
          </section>
          <section aria-labelledby="check">
            <h2 id="check">3. Check and import</h2>
            <div role="status">
              {checked.problem !== undefined && <p class="alert">{checked.problem}</p>}
              {checked.problem === undefined && checked.rows === 0 && (
                <p>There is no row that could be checked here.</p>
              )}
              {checked.problem === undefined && checked.rows > 0 && checked.failed.length === 0 && (
                <p class="good">The first {shownNumber(checked.rows)} rows have no errors.</p>
              )}
              {checked.failed.length > 0 && (
                <p class="alert">
                  {shownNumber(checked.failed.length)} of the first {shownNumber(checked.rows)} rows would fail. The
                  others would be imported.
                </p>
              )}
            </div>
            {checked.failed.length > 0 && (
              <Table
                caption="Rows that would fail"
                columns={["Row", "Column", "Cell", "Why"]}
                rows={checked.failed
                  .slice(0, SHOWN_ERRORS)
                  .map(({ row, error: { column, value, message } }) => [row, column, value, message])}
              />
            )}
            <Alert text={error} />
            {sending !== undefined && (
              <p role="status">
                Sending the file… <progress value={sending} aria-label="Part of the file that was sent" />
              </p>
            )}
            <p class="buttons">
              <button
                type="button"
                class="main"
                disabled={checked.problem !== undefined || sending !== undefined}
                onClick={() => void start(true)}
              >
                Try
              </button>
              <button
                type="button"
                disabled={checked.problem !== undefined || sending !== undefined}
                onClick={() => void start(false)}
              >
                Import
              </button>
            </p>
            <p class="note">
              Try reads the whole file and tells what would be created, changed and refused. It writes nothing.
            </p>
          </section>
        </>
      )}
    </>
  );
};
