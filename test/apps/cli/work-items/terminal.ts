import { runProgram } from "../../../../apps/cli/work-items/program.ts";
import { testTerminal } from "../../../support/terminal.ts";
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

type People = NonNullable<NonNullable<Parameters<typeof testTerminal>[1]>["people"]>;

/** Runs the program in this process, with a person at some of its streams who types this. */
export const runAt = async (people: People, input: string, ...args: readonly string[]) => {
  const { terminal, printed } = testTerminal(args, { people, input });
  const exit = await runProgram(terminal);
  return { exit, out: printed.stdout, told: printed.stderr };
};

/** Runs the program in this process, in a pipe. */
export const run = (...args: readonly string[]) => runAt([], "", ...args);
