import { describe, expect, it } from "vitest";
import { type Certainty, proposeMapping } from "../../../../infra/importer/proposals/propose-mapping.ts";

/** A header of an export, a cell below it, and what it must become: nothing means a custom attribute. */
type Header = readonly [name: string, cell: string, target?: string, certainty?: Certainty];

const ID = "external_id";
const SHORT = "custom_attributes.short_description";
const LONG = "custom_attributes.description";

const EXPORTS: Readonly<Record<string, readonly Header[]>> = {
  Zendesk: [
    ["ID", "4711", ID, "certain"],
    ["Requester", "Dora Kunz"],
    ["Requester email", "dora@customer.example"],
    ["Submitter", "Web form"],
    ["Assignee", "Ann Lee", "agent_name", "certain"],
    ["Assignee email", "ann@desk.example", "agent_email", "certain"],
    ["Group", "Support"],
    ["Subject", "Printer", SHORT, "certain"],
    ["Status", "Solved", "status", "certain"],
    ["Ticket type", "Incident", "type", "certain"],
    ["Solved at", "2023-06-13 20:15", "completed_at", "certain"],
    ["Created at", "2023-06-12 20:15"],
  ],
  Freshdesk: [
    ["Ticket ID", "12", ID, "certain"],
    ["Subject", "Paper", SHORT, "certain"],
    ["Status", "Closed", "status", "certain"],
    ["Agent", "Ann Lee", "agent_name", "certain"],
    ["Agent interactions", "3"],
    ["Closed time", "2023-06-13 20:15:00", "completed_at", "certain"],
    ["Resolution time (in hrs)", "04:10:00"],
    ["Full name", "Dora Kunz"],
    ["Email", "dora@customer.example"],
    ["Contact ID", "99120"],
    ["Customer response", "1"],
  ],
  Jira: [
    ["Summary", "Crash", SHORT, "certain"],
    ["Issue key", "OPS-7", ID, "certain"],
    ["Issue id", "10012"],
    ["Issue Type", "Bug", "type", "certain"],
    ["Status", "Done", "status", "certain"],
    ["Assignee", "Ann Lee", "agent_name", "certain"],
    ["Assignee Id", "5b10a2844c20165700ede21g", "agent_external_id", "certain"],
    ["Reporter", "Dora Kunz"],
    ["Reporter Id", "5b10ac8d82e05b22cc7d4ef5"],
    ["Creator", "Dora Kunz"],
    ["Resolved", "13/Jun/23 8:15 PM", "completed_at", "certain"],
    ["Description", "It crashes.", LONG, "certain"],
  ],
  ServiceNow: [
    ["number", "INC0010001", ID, "certain"],
    ["caller_id", "Caller 2403"],
    ["opened_by", "Opened by 8"],
    ["sys_created_by", "Created by 6"],
    ["assigned_to", "Resolver 1", "agent_name", "certain"],
    ["assignment_group", "Group 56"],
    ["incident_state", "Resolved", "status", "certain"],
    ["category", "Network", "type", "likely"],
    ["closed_at", "05-13-2016 12:00", "completed_at", "certain"],
    ["resolved_by", "Resolved by 149"],
  ],
  Salesforce: [
    ["Case Number", "00001026", ID, "certain"],
    ["Contact Name", "Dora Kunz"],
    ["Contact Email", "dora@customer.example"],
    ["Account Name", "Acme"],
    ["Case Owner", "Ann Lee", "agent_name", "certain"],
    ["Created By", "Dora Kunz"],
    ["Date/Time Closed", "6/13/2023 8:15 PM", "completed_at", "certain"],
    ["Case Type", "Problem", "type", "certain"],
  ],
  HubSpot: [
    ["Ticket ID", "1420", ID, "certain"],
    ["Ticket name", "Refund", SHORT, "certain"],
    ["Ticket owner", "Ann Lee", "agent_name", "certain"],
    ["Ticket status", "New", "status", "certain"],
    ["Pipeline", "Support"],
    ["Close date", "2023-06-13 20:15", "completed_at", "certain"],
    ["Associated Contact", "Dora Kunz (dora@customer.example)"],
    ["Category", "Billing", "type", "likely"],
  ],
  Intercom: [
    ["Conversation ID", "2154", ID, "certain"],
    ["User name", "Dora Kunz"],
    ["User email", "dora@customer.example"],
    ["From", "dora@customer.example"],
    ["Teammate currently assigned", "Ann Lee", "agent_name", "certain"],
    ["Conversation state", "closed", "status", "certain"],
    ["Last closed at", "2023-06-13 20:15", "completed_at", "certain"],
    ["Contact external ID", "u-12"],
  ],
};

const DETAILS_OF_NOBODY: readonly (readonly [name: string, cell: string, target: string, certainty: Certainty])[] = [
  ["Email", "dora@example.com", "agent_email", "likely"],
  ["User ID", "u-77", "agent_external_id", "likely"],
];

function proposalOf(headers: readonly Header[]) {
  const rows = [headers.map(([, cell]) => cell)];
  const names = headers.map(([name]) => name);
  return proposeMapping({ names, rows, delimiter: ",", timeZone: "Europe/Berlin", isZoneChosen: true });
}

describe.each(Object.entries(EXPORTS))("an export of %s", (_, headers) => {
  it.each(headers)("with %s such as %s", (name, _cell, target, certainty = "unknown") => {
    const { columns, mapping } = proposalOf(headers);
    const found = columns.find(({ column }) => column === name);
    expect(found).toMatchObject({ target, certainty });
    expect(found?.reason === "").toBe(certainty === "unknown");
    const targets = Object.entries(mapping.fields ?? {}).filter(([, { column }]) => column === name);
    const taken = targets.map(([key]) => key).filter((key) => key !== `custom_attributes.${name}`);
    expect(taken).toEqual(target === undefined ? [] : [target]);
  });
});

describe("the headers of the exports", () => {
  it("are 60 or more", () => {
    const names = Object.values(EXPORTS).flatMap((headers) => headers.map(([name]) => name));
    expect(new Set(names).size).toBeGreaterThanOrEqual(60);
  });

  it.each(DETAILS_OF_NOBODY)(
    "say of %s only what is likely, if no other column names a person",
    (name, cell, ...rest) => {
      const [target, certainty] = rest;
      const { columns } = proposalOf([
        ["Ticket ID", "1"],
        [name, cell],
      ]);
      expect(columns[1]).toEqual({ index: 1, column: name, target, certainty, reason: "by name" });
      const [, beside] = proposalOf([
        ["Ticket ID", "1"],
        [name, cell],
        ["Requester", "Dora"],
      ]).columns;
      expect(beside).toMatchObject({ target: undefined, certainty: "unknown" });
    },
  );

  it.each(["Customer Email", "Requester", "Contact", "From", "Client E-Mail", "Kunde", "Reporter", "Caller ID"])(
    "never make an agent of %s",
    (name) => {
      for (const cell of ["dora@example.com", "Dora Kunz", "4711"]) {
        expect(
          proposalOf([
            ["Ticket ID", "1"],
            [name, cell],
          ]).columns[1]?.target,
        ).toBeUndefined();
      }
    },
  );

  it.each([
    ["Handler", "Ann", "agent_name"],
    ["Resolver", "ann@example.com", "agent_email"],
    ["Advisor ID", "7", "agent_external_id"],
    ["Representative", "4711", "agent_external_id"],
    ["Closed by", "Ann", "agent_name"],
    ["handledBy", "Ann", "agent_name"],
    ["Email of the agent", "ann@example.com", "agent_email"],
    ["Bearbeiter", "Ann", "agent_name"],
  ])("make an agent of %s with %s", (name, cell, target) => {
    expect(
      proposalOf([
        ["Ticket ID", "1"],
        [name, cell],
      ]).columns[1],
    ).toMatchObject({ target, certainty: "certain" });
  });

  it("never mix two people into one agent", () => {
    const { mapping } = proposalOf([
      ["Ticket ID", "1"],
      ["Closed by ID", "7"],
      ["Assignee", "Ann"],
      ["Owner email", "b@x.y"],
    ]);
    expect(Object.keys(mapping.fields ?? {})).toEqual(["external_id", "agent_name"]);
  });
});
