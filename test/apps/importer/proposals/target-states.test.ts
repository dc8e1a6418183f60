import { expect, it } from "vitest";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";
import {
  isReady,
  type TargetEvidence,
  targetStates,
  unsetTargets,
} from "../../../../apps/importer/proposals/target-states.ts";

/** What is known of a file, its header first, when it has been read. */
function evidenceOf([names = [], ...rows]: readonly (readonly string[])[]): TargetEvidence {
  const survey = surveyOf(names, rows, 2);
  const proposal = proposeMapping({ names, rows, survey, delimiter: ",", timeZone: "UTC", now: Date.now() });
  return { names, survey, ...proposal };
}

/** The states of a file's targets in short. */
function shown(evidence: TargetEvidence): string[] {
  return targetStates(evidence).map(
    ({ target, state, columns }) => `${target} ${state}${columns.map(({ column }) => ` "${column}"`).join("")}`,
  );
}

const TICKETS = [
  ["Ticket ID", "Assignee", "Assignee email", "Status", "Closed at", "Type", "Subject"],
  ["t-1", "Ann Lee", "ann@desk.example", "Closed", "2024-03-13T20:15:00Z", "call", "Printer is broken"],
  ["t-2", "Bob Stone", "bob@desk.example", "Open", "", "chat", "Paper is missing"],
];

it("shows all targets of a file in their order, with the columns that they come from", () => {
  const evidence = evidenceOf(TICKETS);
  expect(shown(evidence)).toEqual([
    'external_id found "Ticket ID"',
    'agent found "Assignee" "Assignee email"',
    'status found "Status"',
    'completed_at found "Closed at"',
    'type found "Type"',
    'short_description found "Subject"',
  ]);
  expect(isReady(targetStates(evidence))).toBe(true);
});

it("says which targets a file has no column for, until a person leaves them empty", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Erfolg"],
    ["t-1", "x"],
    ["t-2", "x"],
  ]);
  expect(unsetTargets(evidence)).toEqual(["agent", "status", "completed_at", "type", "short_description"]);
  const decisions = { agent: "left", status: "left", completed_at: "left", type: "left" } as const;
  const before = targetStates({ ...evidence, decisions });
  expect([before.at(1)?.state, isReady(before)]).toEqual(["left", false]);
  expect(isReady(targetStates({ ...evidence, decisions: { ...decisions, short_description: "left" } }))).toBe(true);
});

it("never leaves the ID empty", () => {
  const [id] = targetStates({ ...evidenceOf([["Text"], ["same"], ["same"]]), decisions: { external_id: "left" } });
  expect(id?.state).toBe("missing");
});

it("asks about a likely column with three of its values, until a person confirms it", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Status"],
    ["t-1", "Closed"],
    ["t-2", "Open"],
    ["t-3", "Open"],
    ["t-4", "Frozen"],
    ["t-5", "Open"],
  ]);
  const status = targetStates(evidence).find(({ target }) => target === "status");
  expect(status).toMatchObject({
    state: "asked",
    candidates: [{ index: 1, column: "Status", examples: ["Closed", "Open", "Frozen"] }],
    reason: 'what "Frozen" means isn\'t known',
  });
  const { mapping } = evidence;
  const answered = { ...mapping, fields: { ...mapping.fields, status: { column: "Status", otherwise: "pending" } } };
  const decisions = { status: "as mapped" } as const;
  expect(shown({ ...evidence, mapping: answered, decisions })).toContain('status found "Status"');
});

it("shows the targets of events after those of the items", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Log ID", "By", "When"],
    ["t-1", "1", "Ann", "2024-03-13T20:15:00Z"],
  ]);
  const mapping = {
    fields: { external_id: { column: "Ticket ID" }, type: { value: "ticket" } },
    event: { external_id: { column: "Log ID" }, actor_name: { column: "By" }, occurred_at: { column: "When" } },
  };
  const states = targetStates({ ...evidence, columns: [], questions: [], mapping });
  expect(states.find(({ target }) => target === "type")).toMatchObject({ state: "found", value: "ticket" });
  expect(shown({ ...evidence, columns: [], mapping }).slice(6)).toEqual([
    'event.external_id found "Log ID"',
    'event.actor found "By"',
    'event.occurred_at found "When"',
    "event.content missing",
  ]);
});
