import * as fc from "fast-check";

const HEADERS = [
  "external_id",
  "agent_email",
  "agent_name",
  "type",
  "status",
  "completed_at",
  "custom_attributes",
  "custom_attributes.team",
  "_row",
];
const CELLS = [
  "",
  "a",
  "b",
  "completed",
  "ann@example.com",
  "2026-03-01T10:00:00Z",
  '{"a":[1,null]}',
  "ä,;|\t",
  'say "so"',
  "line\r\nbreak",
  "=1+1",
  "{",
  "\u0000",
  "x".repeat(2000),
];

const quoted = (cell: string): string => (/[",;\t|\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A CSV file that can be read. Its rows may hold anything. */
export const readableFile: fc.Arbitrary<string> = fc
  .record({
    columns: fc.subarray(HEADERS.slice(1)).map((others) => ["external_id", ...others]),
    rows: fc.array(fc.array(fc.constantFrom(...CELLS), { minLength: HEADERS.length, maxLength: HEADERS.length }), {
      maxLength: 8,
    }),
    end: fc.constantFrom("\n", "\r\n"),
    mark: fc.constantFrom("", "\u{feff}"),
  })
  .map(({ columns, rows, end, mark }) => {
    // A row that is empty in all of one column would be an empty line, which ends no row.
    const lines = rows.map((cells, row) => [`row-${row % 5}`, ...cells.slice(1, columns.length)].map(quoted).join(","));
    return mark + [columns.join(","), ...lines].map((line) => line + end).join("");
  });

/** What may be in a file instead of something else. */
const FRAGMENTS = [
  '"',
  "\n",
  "\r",
  ",",
  ";",
  "\u{feff}",
  "\u0000",
  "external_id",
  "colour,",
  ",,,,,,,,,,,,",
  "🙂",
  '""',
];

/** A file with faults: in its header, its quotes, its rows or its bytes. */
export const faultyFile: fc.Arbitrary<Buffer> = fc
  .record({
    file: readableFile,
    at: fc.nat({ max: 400 }),
    length: fc.nat({ max: 20 }),
    fragment: fc.oneof(
      fc.constantFrom(...FRAGMENTS).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }),
    ),
  })
  .map(({ file, at, length, fragment }) => {
    const bytes = Buffer.from(file);
    const start = Math.min(at, bytes.length);
    return Buffer.concat([bytes.subarray(0, start), fragment, bytes.subarray(start + length)]);
  });
