import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCsv, readSample } from "../../apps/cli/work-items/open-csv.ts";
import { checkRows } from "../../apps/pages/browser/upload/file/check-rows.ts";
import { readFile } from "../../apps/pages/browser/upload/file/table-file.ts";
import { proposeMapping } from "../../apps/importer/proposals/propose-mapping.ts";
import { strangeFiles } from "./strange-files.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createUploadService, dataOf, type UploadService } from "../support/uploads/upload-service.ts";

/** What is said of a file: rows that succeed, of all; and what is in its failed rows or in the error. */
interface Expected {
  /** Of the file as it is, without a mapping. */
  readonly plain: string;
  /** Of the file as command and page send it, with the mapping that they propose. */
  readonly imported: string;
  readonly says?: readonly string[];
  /** What the page says before anything is sent, if that is something else. */
  readonly onPage?: string;
}

const UNKNOWN = "send a mapping to use others";
const SEMICOLONS = "columns must be separated by commas, not semicolons";
const UTF_16 = "the file is UTF-16; save it as UTF-8 or use the import page";
const OF_2 = { plain: UNKNOWN, imported: "2 of 2" };
const UTF_16_OF_2 = { plain: UTF_16, imported: "2 of 2" };
const refused = (message: string): Expected => ({ plain: message, imported: message });

const expected: Readonly<Record<keyof typeof strangeFiles, Expected>> = {
  "cells over many lines": OF_2,
  "CR alone": { plain: "row 1: rows must end with LF or CRLF, not CR", imported: "2 of 2" },
  CRLF: { plain: SEMICOLONS, imported: "2 of 2" },
  "UTF-16 with a mark": UTF_16_OF_2,
  "UTF-16 without a mark": UTF_16_OF_2,
  "big-endian UTF-16": UTF_16_OF_2,
  "big-endian UTF-16 without a mark": UTF_16_OF_2,
  "Windows-1252": {
    plain: "row 2: the file must be UTF-8, and this looks like Windows-1252",
    imported: "row 2 isn't valid UTF-8",
  },
  tabs: { plain: "columns must be separated by commas, not tabs", imported: "2 of 2" },
  "vertical bars": { plain: "columns must be separated by commas, not vertical bars", imported: "2 of 2" },
  "a delimiter too many at each end": { plain: SEMICOLONS, imported: "2 of 2" },
  "rows that end with more delimiters than the header": OF_2,
  "a header twice": { plain: 'repeated column "Note"', imported: "1 of 1" },
  "the id's header twice": { plain: UNKNOWN, imported: "1 of 1" },
  "the line that Excel hides": { plain: "this line sets the delimiter for Excel; delete it", imported: "2 of 2" },
  "a byte order mark before a quoted header": { plain: UNKNOWN, imported: "1 of 1" },
  "ragged rows": {
    plain: UNKNOWN,
    imported: "1 of 3",
    says: [
      "A-1,Open,,2,the row has 2 values but the header has 3,,",
      "A-2,Open,x,3,the row has 4 values but the header has 3; put values that contain the delimiter in quotes,,,invalid,y",
    ],
  },
  "a cell of 1 MB": {
    plain: UNKNOWN,
    imported: "1 of 2",
    says: [",2,custom_attributes: must be at most 262144 bytes of JSON (column Note),Note,xxx"],
    // It reads no more rows after so long a one.
    onPage: "0 of 1",
  },
  "a cell of 2 MB": { plain: UNKNOWN, imported: "row 2: the row is longer than 1048576 characters; check for a quote" },
  "NUL bytes": refused("this looks like a binary file (it has a NUL byte); choose UTF-8 text"),
  "blank lines at its end": { plain: SEMICOLONS, imported: "2 of 2" },
  "a row of totals": {
    plain: UNKNOWN,
    imported: "3 of 4",
    says: [",3.5,,5,external_id: must not be empty (column Ticket ID),Ticket ID,"],
  },
  formulas: { plain: UNKNOWN, imported: "3 of 3" },
  "leading zeros": { plain: UNKNOWN, imported: "1 of 1" },
  "dates as Excel counts them": OF_2,
  "two kinds of dates": {
    plain: UNKNOWN,
    imported: "2 of 4",
    says: [
      'A-3,06/15/2023,4,"completed_at: ""06/15/2023"" doesn\'t match the format dd/MM/yyyy (column Closed at)",Closed at,06/15/2023',
      'A-4,2023-06-16,5,"completed_at: ""2023-06-16"" doesn\'t match the format',
    ],
  },
  "emoji and other scripts": OF_2,
  "300 columns": { plain: '"Column 98" and 200 others', imported: "1 of 1" },
  "20,000 columns": refused("row 1: must be at most 65536 bytes"),
  "no bytes": refused("file is empty"),
  "a mark alone": {
    plain: "row 1: there is no header; add the column names in this row or set header_row in the mapping",
    imported: "the file is empty",
    onPage: "file is empty",
  },
  "one blank line": {
    plain: "row 1: there is no header; add the column names in this row or set header_row in the mapping",
    imported: "the file is empty",
    onPage: "file is empty",
  },
  "a header alone": { plain: UNKNOWN, imported: "0 of 0", onPage: "this file has no rows" },
  "a header without a line end": { plain: UNKNOWN, imported: "0 of 0", onPage: "this file has no rows" },
  "a title above the header": {
    plain: 'unknown column "Report of June"',
    imported: "1 of 1",
  },
  "no header": { plain: 'unknown column "A-1", "Open", "2023-06-01"', imported: "1 of 1" },
  "a quote that is never closed": {
    plain: UNKNOWN,
    imported: "row 2: a quote is opened and never closed; close it, or double it",
  },
  inches: {
    plain: UNKNOWN,
    imported: "row 2: there is a quote in a value that doesn't begin with one; put the value",
    onPage: "row 2: there is a quote in a value that doesn’t begin with one; put the value",
  },
  "backslashes before quotes": { plain: UNKNOWN, imported: "row 2: after a closing quote there must be the delimiter" },
  "single quotes": {
    plain: `unknown column "'Ticket ID'"`,
    imported: "0 of 1",
    says: ["2,the row has 3 values but the header has 2; put values that contain the delimiter in quotes"],
  },
  "spaces around delimiters": { plain: UNKNOWN, imported: "row 3: after a closing quote there must be the delimiter" },
  "names of prototypes": { plain: '"constructor", "toString"', imported: "1 of 1" },
  // The proposal says that it leaves such a column out.
  "a name that no attribute may have": { plain: UNKNOWN, imported: "1 of 1" },
  "a workbook": { plain: "this is an Excel workbook; save it as CSV or use the import page", imported: "2 of 2" },
  "an old workbook": refused("his is an old Excel workbook (.xls) or one with a password; save it as CSV"),
  "a ZIP file": refused("his is a ZIP file; upload the CSV file in it"),
  "a compressed file": refused("his is a compressed file; upload the CSV file in it"),
  "a PDF file": refused("his is a PDF file; upload a CSV file"),
  "a picture": refused("his is a picture; upload a CSV file"),
  "a web page": refused("this is a web page or XML; save the table in it as CSV"),
  JSON: refused("this is JSON; save the table as CSV, or send the items in batches"),
};

const folder = temporaryDirectory(afterAll);
let uploads: UploadService;
beforeAll(async () => {
  uploads = await createUploadService();
});

/** Uploads a file and waits for its job. @returns rows that succeeded, of all, or the error; and the failed rows */
const upload = async (file: Buffer, fields: object): Promise<string> => {
  const response = await uploads.post(file, fields);
  if (response.status !== 202) return `${response.status} ${response.body.error}`;
  const job = await uploads.finish(dataOf(response).id);
  const report = job["failed_rows"] > 0 ? (await uploads.report(job.id)).join("\n") : "";
  return `${job.status} ${String(job["succeeded_rows"])} of ${String(job["total_rows"])} ${job.error ?? ""}${report}`;
};

/** What the command does with a file. */
const importFile = async (bytes: Buffer): Promise<{ readonly said: string; readonly mapping?: object }> => {
  const path = join(folder, "file");
  writeFileSync(path, bytes);
  try {
    const file = await openCsv(path, { encoding: undefined, delimiter: undefined, sheet: undefined });
    const { mapping } = proposeMapping({ ...(await readSample(file, 500)), timeZone: "UTC", now: Date.now() });
    const said = await upload(Buffer.from(await file.blob.arrayBuffer()), { mapping });
    await file.close();
    return { said, mapping };
  } catch (error) {
    return { said: (error as Error).message };
  }
};

/** What the page says about a file before anything is sent. */
const readOnPage = async (bytes: Buffer): Promise<{ readonly said: string; readonly mapping?: object }> => {
  try {
    const table = await readFile(new File([bytes], "file"));
    if (table.text?.format.doubt) return { said: table.text.format.doubt.problem };
    const { mapping } = proposeMapping({ ...table, timeZone: "UTC", now: Date.now() });
    const { problem, rows, failed } = checkRows(table, mapping);
    return { said: problem ?? `completed ${rows - failed} of ${rows}`, mapping };
  } catch (error) {
    return { said: (error as Error).message };
  }
};

describe("a file as people have it", () => {
  it.each(Object.entries(strangeFiles))("with %s is imported, or rejected with what to do", async (name, bytes) => {
    const { plain, imported, says = [], onPage = imported } = expected[name]!;
    const asItIs = await upload(bytes, {});
    expect(asItIs).toMatch(/^422 /);
    expect(asItIs).toContain(plain);
    const { said, mapping } = await importFile(bytes);
    expect(said).toContain(imported);
    for (const each of says) expect(said).toContain(each);
    const page = await readOnPage(bytes);
    expect(page.said.toLowerCase()).toContain(onPage.toLowerCase());
    const isImported = page.said.startsWith("completed");
    expect(isImported ? page.mapping : undefined).toEqual(isImported ? mapping : undefined);
  });
});
