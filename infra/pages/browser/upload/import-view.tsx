import { useEffect, useMemo, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type Proposal, proposeMapping } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import type { Api } from "./api.ts";
import { checkRows, exampleOf } from "./check-rows.ts";
import { idOfColumn, isUnchecked } from "./columns-form.tsx";
import { MappingForm } from "./mapping-form.tsx";
import { Alert, saveFile, Table } from "./parts.tsx";
import { isBlank } from "./read-text.ts";
import { NO_REPAIRS } from "./repairs.ts";
import { ReadingForm } from "./reading-form.tsx";
import { TIME_ZONE } from "./sources.ts";
import { type EarlierMapping, send, type Sent } from "./send.ts";
import { readFile, type TableFile } from "./table-file.ts";
import { countOf, sentenceOf, shownBytes, shownNumber } from "./shown.ts";

const SHOWN_ROWS = 5;
const SHOWN_ERRORS = 10;
const NOTHING_CHECKED: ReadonlySet<string> = new Set();

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
}

/** An earlier mapping for a file, which may have another delimiter, and its header in another row. */
function fitted({ mapping }: EarlierMapping, { delimiter, headerRow }: TableFile): Proposal {
  const { delimiter: _, header_row: __, ...others } = mapping;
  const place = { ...(headerRow !== 1 && { header_row: headerRow }), ...(delimiter !== COMMA && { delimiter }) };
  const isSame = (mapping.delimiter ?? COMMA) === delimiter && (mapping.header_row ?? 1) === headerRow;
  return { mapping: isSame ? mapping : { ...others, ...place }, columns: [] };
}

/** Names the columns that a person has yet to look at, each a way to it. */
function Unchecked({ columns }: { readonly columns: Proposal["columns"] }) {
  if (columns.length === 0) return null;
  return (
    <p class="unchecked">
      Check {countOf(columns.length, "column")} before you import:{" "}
      {columns.map(({ column, index }) => (
        <button
          key={index}
          type="button"
          class="plain"
          onClick={() => document.querySelector<HTMLElement>(`#${idOfColumn(index)} select`)?.focus()}
        >
          {column}
        </button>
      ))}
    </p>
  );
}

/** From a file to its import. @param earlier the mapping to begin with, in place of a proposal */
export function ImportView({
  api,
  earlier,
  sent,
  onForget,
  onSent,
}: {
  readonly api: Api;
  readonly earlier: EarlierMapping | undefined;
  /** What was sent last, whose mapping may have got a prefix since. */
  readonly sent: Sent | undefined;
  readonly onForget: () => void;
  readonly onSent: (sent: Sent) => void;
}) {
  const [table, setTable] = useState<TableFile>();
  const [isReading, setReading] = useState(false);
  const [mapping, setMapping] = useState<Mapping>({});
  const [proposed, setProposed] = useState<Proposal["columns"]>([]);
  const [headerDoubt, setHeaderDoubt] = useState<string>();
  const [checked, setChecked] = useState(NOTHING_CHECKED);
  const [error, setError] = useState<string>();
  const [sending, setSending] = useState<number>();
  const [isFocused, setFocus] = useState(false);
  // The next step begins where the file was taken.
  useEffect(() => {
    if (!isFocused) return;
    document.querySelector<HTMLElement>("#columns")?.focus();
    setFocus(false);
  }, [isFocused]);
  const check = useMemo(() => (table ? checkRows(table, mapping) : undefined), [table, mapping]);

  const unchecked = proposed.filter((each) => isUnchecked(each, checked));

  const read = (next: TableFile): void => {
    const proposal = earlier ? fitted(earlier, next) : proposeMapping({ ...next, timeZone: TIME_ZONE });
    setTable(next);
    setMapping(proposal.mapping);
    setProposed(proposal.columns);
    setHeaderDoubt(proposal.headerDoubt);
    setChecked(NOTHING_CHECKED);
  };
  useEffect(() => {
    if (table) read(table);
  }, [earlier]);
  useEffect(() => {
    if (sent && sent.table === table) setMapping(sent.mapping);
  }, [sent]);
  const take = (file: File): void => {
    setError(undefined);
    setReading(true);
    readFile(file)
      .then(
        (next) => {
          read(next);
          setFocus(true);
        },
        (caught: unknown) => {
          setTable(undefined);
          setError(sentenceOf(caught));
        },
      )
      .finally(() => setReading(false));
  };
  const start = async (dryRun: boolean): Promise<void> => {
    if (!table) return;
    setError(undefined);
    setSending(0);
    try {
      const isChecked = unchecked.length === 0;
      await send(api, { table, mapping, dryRun, isChecked, repairs: NO_REPAIRS }, onSent, setSending, earlier);
    } catch (caught) {
      setError(sentenceOf(caught));
    }
    setSending(undefined);
  };

  return (
    <>
      <section aria-labelledby="file">
        <h2 id="file">1. Choose a file</h2>
        {earlier && (
          <p role="status">
            Using the mapping of {earlier.fileName}.{" "}
            <button type="button" class="plain" onClick={onForget}>
              Use a proposal instead
            </button>
          </p>
        )}
        <FileField onFile={take} />
        {isReading && <p role="status">Reading the file…</p>}
        {!table && <Alert text={error} />}
        {table && (
          <>
            <p role="status">
              <strong>{table.name}</strong>: {shownBytes(table.size)}, {countOf(table.names.length, "column")}.
            </p>
            <ReadingForm table={table} onRead={read} />
            {headerDoubt !== undefined && <p class="unchecked">Please check: {headerDoubt}.</p>}
            <Table
              caption="The first rows of the file"
              columns={table.names}
              rows={table.rows.filter((row) => !isBlank(row)).slice(0, SHOWN_ROWS)}
            />
          </>
        )}
      </section>
      {table && check && (
        <>
          <section aria-labelledby="columns">
            <h2 id="columns" tabIndex={-1}>
              2. Map your columns
            </h2>
            <MappingForm
              table={table}
              mapping={mapping}
              proposed={proposed}
              checked={checked}
              onChange={setMapping}
              onCheck={(column) => setChecked(new Set([...checked, column]))}
            />
            <details>
              <summary>This mapping as JSON, for the API</summary>
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
              {check.problem !== undefined && <p class="alert">{check.problem}</p>}
              {check.problem === undefined && check.rows === 0 && <p>This file has no rows.</p>}
              {check.problem === undefined && check.rows > 0 && check.failed.length === 0 && (
                <p class="good">
                  {check.rows === 1 ? "The first row has" : `The first ${shownNumber(check.rows)} rows have`} no errors.
                </p>
              )}
              {check.failed.length > 0 && (
                <p class="alert">
                  {shownNumber(check.failed.length)} of the first {countOf(check.rows, "row")} would fail. The others
                  would be imported.
                </p>
              )}
            </div>
            {check.failed.length > 0 && (
              <Table
                caption="Rows that would fail"
                columns={["Row", "Column", "Value", "Why"]}
                rows={check.failed
                  .slice(0, SHOWN_ERRORS)
                  .map(({ row, error: wrong }) => [row, wrong.column, wrong.value, exampleOf(wrong)])}
              />
            )}
            <Alert text={error} />
            {sending !== undefined && (
              <p role="status">
                Sending the file… <progress value={sending} aria-label="Part of the file that was sent" />
              </p>
            )}
            <Unchecked columns={unchecked} />
            <p class="buttons">
              <button
                type="button"
                class="main"
                disabled={check.problem !== undefined || sending !== undefined}
                onClick={() => void start(true)}
              >
                Run a trial
              </button>
              <button
                type="button"
                disabled={check.problem !== undefined || sending !== undefined || unchecked.length > 0}
                onClick={() => void start(false)}
              >
                Import
              </button>
            </p>
            <p class="note">
              A trial run checks the whole file and shows what would be created, changed or rejected. Nothing is saved.
            </p>
          </section>
        </>
      )}
    </>
  );
}
