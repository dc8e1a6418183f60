import { deflateRawSync, gzipSync } from "node:zlib";
import { makeWorkbook } from "../support/workbook.ts";

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const lines = (...rows: readonly string[]): string => `${rows.join("\r\n")}\r\n`;
const TICKETS = lines(
  "Ticket ID;Status;Closed at;Agent Email;Note",
  "A-1;Open;;ada@example.com;Zoë",
  "A-2;Closed;13/06/2023 12:15;ben@example.com;",
);

/** Files as people have them, by what is strange about them. */
export const strangeFiles: Readonly<Record<string, Buffer>> = {
  "cells over many lines": Buffer.from(
    'Ticket ID,Note,Status\n"A-1","first\n\n""second"", with comma\r\nthird",Open\nA-2,"\n",Closed\n',
  ),
  "CR alone": Buffer.from(TICKETS.replaceAll("\r\n", "\r")),
  CRLF: Buffer.from(TICKETS),
  "UTF-16 with a mark": utf16(`\uFEFF${TICKETS}`),
  "UTF-16 without a mark": utf16(TICKETS),
  "big-endian UTF-16": utf16(`\uFEFF${TICKETS}`).swap16(),
  "big-endian UTF-16 without a mark": utf16(TICKETS).swap16(),
  "Windows-1252": Buffer.from(TICKETS, "latin1"),
  tabs: Buffer.from(TICKETS.replaceAll(";", "\t")),
  "vertical bars": Buffer.from(TICKETS.replaceAll(";", "|")),
  "a delimiter too many at each end": Buffer.from(TICKETS.replaceAll("\r\n", ";\r\n")),
  "rows that end with more delimiters than the header": Buffer.from("Ticket ID,Note\nA-1,x,,,\nA-2,y,,\n"),
  "a header twice": Buffer.from("Ticket ID,Note,Note\nA-1,x,y\n"),
  "the id's header twice": Buffer.from("Id,Id\nA-1,A-2\n"),
  "the line that Excel hides": Buffer.from(`sep=;\r\n${TICKETS}`),
  "a byte order mark before a quoted header": Buffer.from('\uFEFF"Ticket ID","Note"\n"A-1","x"\n'),
  "ragged rows": Buffer.from("Ticket ID,Status,Note\nA-1,Open\nA-2,Open,x,y\nA-3,Open,z\n"),
  "a cell of 1 MB": Buffer.from(`Ticket ID,Note\nA-1,${"x".repeat(1_000_000)}\nA-2,y\n`),
  "a cell of 2 MB": Buffer.from(`Ticket ID,Note\nA-1,"${"x".repeat(2_000_000)}"\nA-2,y\n`),
  "NUL bytes": Buffer.from("Ticket ID,Note\nA-1,x\0y\n"),
  "blank lines at its end": Buffer.from(`${TICKETS}\r\n\r\n;;;;\r\n\r\n`),
  "a row of totals": Buffer.from("Ticket ID,Hours,Closed\nA-1,1.5,2023-06-01\nA-2,2,2023-06-02\nTotal,3.5,\n,3.5,\n"),
  formulas: Buffer.from('Ticket ID,Note\nA-1,"=HYPERLINK(""http://x"")"\nA-2,+49 30 1234\nA-3,@cmd\n'),
  "leading zeros": Buffer.from("Ticket ID,Zip\n00042,01067\n"),
  "dates as Excel counts them": Buffer.from("Ticket ID,Closed at\nA-1,45078.51\nA-2,45079\n"),
  "two kinds of dates": Buffer.from(
    "Ticket ID,Closed at\nA-1,13/06/2023\nA-2,14/06/2023\nA-3,06/15/2023\nA-4,2023-06-16\n",
  ),
  "emoji and other scripts": Buffer.from("Ticket ID,Titel 🎫,名前\n🦊-1,👩‍👩‍👧,山田\nA-2,\u202eabc,é\n"),
  "300 columns": Buffer.from(
    `Ticket ID,${Array.from({ length: 299 }, (_, index) => `Column ${index}`).join(",")}\nA-1${",x".repeat(299)}\n`,
  ),
  "20,000 columns": Buffer.from(
    `Ticket ID,${Array.from({ length: 20_000 }, (_, index) => `Column ${index}`).join(",")}\nA-1${",x".repeat(20_000)}\n`,
  ),
  "no bytes": Buffer.alloc(0),
  "a mark alone": Buffer.from("\uFEFF"),
  "one blank line": Buffer.from("\r\n"),
  "a header alone": Buffer.from("Ticket ID,Status\n"),
  "a header without a line end": Buffer.from("Ticket ID,Status"),
  "a title above the header": Buffer.from("Report of June,,\n,,\nTicket ID,Status,Note\nA-1,Open,x\n"),
  "no header": Buffer.from("A-1,Open,2023-06-01\nA-2,Closed,2023-06-02\n"),
  "a quote that is never closed": Buffer.from('Ticket ID,Size\nA-1,"7\nA-2,8\n'),
  inches: Buffer.from('Ticket ID,Size\nA-1,7" disk\nA-2,8\n'),
  "backslashes before quotes": Buffer.from('Ticket ID,Note\nA-1,"say \\"hi\\""\n'),
  "single quotes": Buffer.from("'Ticket ID','Note'\n'A-1','x, y'\n"),
  "spaces around delimiters": Buffer.from('Ticket ID , Status\n A-1 , Open\n"A-2" , Closed\n'),
  "names of prototypes": Buffer.from("Ticket ID,constructor,toString,hasOwnProperty\nA-1,a,b,c\n"),
  "a name that no attribute may have": Buffer.from("Ticket ID,__proto__\nA-1,x\n"),
  "a workbook": makeWorkbook({
    Cases: [
      ["Ticket ID", "Status", "Closed at", "Hours"],
      ["A-1", "Closed", new Date("2023-06-01T12:15:36Z"), 1.5],
      ["A-2", "Open", null, { formula: "1+1", result: "2", kind: "n" }],
    ],
  }),
  "an old workbook": Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(2000)]),
  "a ZIP file": Buffer.concat([
    Buffer.from("PK\x03\x04\x14\0\0\0\x08\0tickets.csv", "latin1"),
    deflateRawSync(TICKETS),
  ]),
  "a compressed file": gzipSync(TICKETS),
  "a PDF file": Buffer.from("%PDF-1.7\n1 0 obj\n"),
  "a picture": Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"),
  "a web page": Buffer.from("<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"),
  JSON: Buffer.from('[{"id":"A-1"},\n{"id":"A-2"}]\n'),
};
