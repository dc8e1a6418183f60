import { vi } from "vitest";
import { runProgram } from "../../../../infra/cli/work-items/program.ts";
import { makeWorkbook } from "../../../support/workbook.ts";

/** Tickets of a help desk. The date of the last isn't a date. */
export const TICKETS =
  'Ticket ID;Agent Email;Status;Closed;Subject\r\nT-1001;ada@example.com;Open;;"Printer;\r\nfloor 2"\r\n' +
  "T-1002;;Closed;01.06.2023;Café\r\n\r\nT-1003;nobody;Closed;31.02.2023;\r\n";

/** The same tickets in a workbook, after another sheet. */
export const WORKBOOK = makeWorkbook({
  Notes: [["only text"]],
  June: [
    ["Ticket ID", "Agent Email", "Status", "Closed", "Subject"],
    ["W-1001", "ada@example.com", "Open", null, "Printer;\nfloor 2"],
    ["W-1002", null, "Closed", new Date("2023-06-01T12:15:36Z"), "Café"],
    [],
    ["W-1003", "nobody", "Closed", "31.02.2023", null],
  ],
});

/** Runs the program in this process. */
export const run = async (...args: readonly string[]) => {
  let out = "";
  let told = "";
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text, ...others: unknown[]) => {
    out += String(text);
    const then = others.find((each) => typeof each === "function");
    then?.();
    return true;
  });
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => ((told += String(text)), true));
  try {
    const exit = await runProgram(args);
    return { exit, out, told };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
};
