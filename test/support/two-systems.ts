import type { TestService } from "./local-service.ts";
import { makeWorkbook } from "./workbook.ts";

const STYLES = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="164" formatCode="&quot;INC&quot;0000000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`;
const HEADER = ["Number", "Short description", "State", "Assigned to", "Closed"];
/** The workbook shows INC0001001, but stores 1001. */
const shown = (number: number) => ({ xml: `<c s="1"><v>${number}</v></c>` });
const incidents = [
  HEADER,
  [shown(1001), "Mail is slow", "In Progress", "Ann Lee", null],
  [shown(1002), "VPN", "Closed", "Bob Stone", "2026-11-16 09:30:00"],
];

const TICKETS = "Id;Subject;Status;Assignee;Solved at";

/** Exports of two systems with the same numbers, and those of a week later. The last one opens a ticket again. */
export const WEEKS: readonly Readonly<Record<string, Buffer | string>>[] = [
  {
    "incidents.xlsx": makeWorkbook({ Incidents: incidents }, { parts: { "xl/styles.xml": STYLES } }),
    "tickets.csv": `${TICKETS}\n1001;Refund;Pending;Zoé Martin;\n1002;Parcel;Closed;Zoé Martin;2026-11-17 10:00\n`,
  },
  {
    "incidents-2.csv":
      `${HEADER.join()}\nINC0001001,Mail is slow,Closed,Cleo Park,2026-11-23 12:00:00\n` +
      "INC0001002,VPN,Closed,Bob Stone,2026-11-16 09:30:00\nINC0001003,Badge,New,Ann Lee,\n",
    "reopened.csv": `${TICKETS}\n1001;Refund;Closed;Zoé Martin;2026-11-24 08:00\n1002;Parcel;Pending;Max Roy;\n`,
  },
];
/** New tickets, one of which has a Cyrillic letter in the number of an incident. */
export const ALIKE = `${TICKETS}\n\u0406NC0001002;VPN;Closed;;2026-11-16 09:30\nNEW-1;Badge;Closed;;2026-11-17 09:30\n`;

/** The items after each week: ID, status, agent, completion and subject. */
export const ITEMS_OF_WEEKS = [
  [
    "1001 pending Zoé Martin - Refund",
    "1002 completed Zoé Martin 2026-11-17T10:00:00.000Z Parcel",
    "INC0001001 in_progress Ann Lee - Mail is slow",
    "INC0001002 completed Bob Stone 2026-11-16T09:30:00.000Z VPN",
  ],
  [
    "1001 completed Zoé Martin 2026-11-24T08:00:00.000Z Refund",
    "1002 pending Max Roy - Parcel",
    "INC0001001 completed Cleo Park 2026-11-23T12:00:00.000Z Mail is slow",
    "INC0001002 completed Bob Stone 2026-11-16T09:30:00.000Z VPN",
    "INC0001003 pending Ann Lee - Badge",
  ],
] as const;

/** All items of the demo organization, as in `ITEMS_OF_WEEKS`. */
export const itemsIn = async ({ baseUrl, apiKey }: TestService): Promise<string[]> => {
  const response = await fetch(`${baseUrl}/v1/work_items`, { headers: { authorization: `Bearer ${apiKey}` } });
  const { data } = (await response.json()) as { data: Record<string, string | null>[] };
  const shownItem = ({
    external_id: id,
    status,
    agent,
    completed_at: time,
    short_description: subject,
  }: (typeof data)[0]) =>
    [id, status, (agent as unknown as { name: string }).name, time, subject].map((value) => value ?? "-").join(" ");
  return data.map(shownItem).toSorted();
};
