import { expect, it } from "vitest";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { surveyOf } from "../../../../apps/importer/proposals/survey.ts";
import {
  type NamedIndex,
  type Decision,
  type Decisions,
  ITEM_TARGETS,
  type TargetEvidence,
  targetsIn,
  type TargetState,
  targetStates,
  unsetTargets,
} from "../../../../apps/importer/proposals/target-states.ts";

const NOW = Date.UTC(2026, 0, 1);

/** What is known of a file, its header first, when it has been read. */
function evidenceOf([names = [], ...rows]: readonly (readonly string[])[]): TargetEvidence {
  const survey = surveyOf(names, rows, 2);
  const proposal = proposeMapping({
    names,
    rows,
    survey,
    delimiter: ",",
    timeZone: "UTC",
    isZoneChosen: true,
    now: NOW,
  });
  return { names, survey, ...proposal };
}

/** Whether the import can start. */
const isReady = (states: readonly TargetState[]): boolean =>
  states.every(({ state }) => state === "found" || state === "left");

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
  const states = targetStates(evidence);
  expect([states.map(({ target }) => target), isReady(states)]).toEqual([ITEM_TARGETS, true]);
});

it("says which targets a file has no column for, until a person leaves them empty", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Erfolg"],
    ["t-1", "x"],
    ["t-2", "x"],
  ]);
  expect(unsetTargets(evidence)).toEqual(["agent", "status", "completed_at", "type", "short_description"]);
  const decisions: Decisions = { agent: "left", status: "left", completed_at: "left", type: "left" };
  const before = targetStates({ ...evidence, decisions });
  expect([before.at(1)?.state, isReady(before)]).toEqual(["left", false]);
  expect(isReady(targetStates({ ...evidence, decisions: { ...decisions, short_description: "left" } }))).toBe(true);
});

it("guesses no agent from an address or an ID of anyone, and no field from a name with a slip", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Email", "User ID", "Clsoed at"],
    ["t-1", "dora@x.org", "u-77", "2024-03-13T20:15:00Z"],
  ]);
  expect(unsetTargets(evidence)).toEqual(["agent", "status", "completed_at", "type", "short_description"]);
});

it("never leaves the ID empty", () => {
  const [id] = targetStates({ ...evidenceOf([["Text"], ["same"], ["same"]]), decisions: { external_id: "left" } });
  expect(id?.state).toBe("missing");
});

it("asks about a likely column, of which three values are shown, until a person confirms it", () => {
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
    candidates: [{ index: 1, column: "Status" }],
    reason: 'what "Frozen" means isn\'t known',
  });
  const { mapping, survey } = evidence;
  expect(survey.columns[1]?.examples).toEqual(["Closed", "Open", "Frozen"]);
  const answered = { ...mapping, fields: { ...mapping.fields, status: { column: "Status", otherwise: "pending" } } };
  const confirmed: Decision = "as mapped";
  expect(shown({ ...evidence, mapping: answered, decisions: { status: confirmed } })).toContain(
    'status found "Status"',
  );
});

it("offers columns that may be the status or the agent although no name is clear", () => {
  const evidence = evidenceOf([
    ["Ticket ID", "Current status", "Assignee user name", "Assignee user email", "Assignee team", "Agent replies"],
    ["t-1", "Archived", "Ann Lee", "ann@desk.example", "Desk", "1"],
    ["t-2", "Open", "Bob Stone", "bob@desk.example", "Desk", "2"],
  ]);
  const offered = targetStates(evidence).map(({ state, candidates }) => [
    state,
    ...candidates.map((each) => each.column),
  ]);
  expect(offered.slice(1, 3)).toEqual([
    ["asked", "Assignee user name", "Assignee user email"],
    ["asked", "Current status"],
  ]);
});

it("asks who the agent is if another column about agents has some of the same people", () => {
  const stateOf = (...agents: readonly string[]): string =>
    shown(
      evidenceOf([
        ["Call ID", "Agent name", "Handling agent", "Agent mood"],
        ["c-1", "Ann Lee", agents[0]!, "Calm"],
        ["c-2", "Bob Stone", agents[1]!, "Busy"],
      ]),
    ).at(1)!;
  expect(stateOf("Ann Lee", "Cara Fox")).toBe('agent asked "Agent name"');
  expect(stateOf("Line 1", "Line 2")).toBe('agent found "Agent name"');
});

it("says whether the column of a date is in doubt, or only how it is read", () => {
  const doubtOf = (column: string, date: string): unknown => {
    const names = ["Ticket ID", column];
    const rows = [["t-1", date]];
    const survey = surveyOf(names, rows, 2);
    const proposal = proposeMapping({ names, rows, survey, delimiter: ",", timeZone: "UTC", now: NOW });
    const { state, areColumnsLikely } = targetStates({ names, survey, ...proposal }).at(3)!;
    return [state, areColumnsLikely];
  };
  expect(doubtOf("Closed at", "2024-03-13 20:15")).toEqual(["asked", false]);
  expect(doubtOf("Closed at", "2034-03-13 20:15")).toEqual(["asked", true]);
  expect(doubtOf("Ended", "2024-03-13 20:15")).toEqual(["asked", true]);
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
  expect(states.map(({ target }) => target)).toEqual(targetsIn(mapping));
  expect(states.find(({ target }) => target === "type")).toMatchObject({ state: "found", value: "ticket" });
  expect(shown({ ...evidence, columns: [], mapping }).slice(6)).toEqual([
    'event.external_id found "Log ID"',
    'event.actor found "By"',
    'event.occurred_at found "When"',
    "event.content missing",
  ]);
});

/** The state of a target, its reason, and the columns to choose from. */
function about(target: string, ...file: readonly (readonly string[])[]) {
  const found = targetStates(evidenceOf(file)).find((each) => each.target === target);
  return [found?.state, found?.reason, found?.candidates.map(({ column }: NamedIndex) => column)];
}

it.each([
  ["Ann Lee & Bob Stone", "Ann Lee", 'values such as "Ann Lee & Bob Stone" name several people'],
  ["Ann Lee / Bob Stone", "Ann Lee", 'values such as "Ann Lee / Bob Stone" name several people'],
  ["Zo\uFFFD", "Ann", 'values such as "Zo\uFFFD" lost letters when they were converted'],
  ["Zo\u00EB", "Zoe\u0308", '"Zoe\u0308" occurs twice, written with other characters or spaces'],
  ["Ann Lee", "Ann\u00A0Lee", '"Ann\u00A0Lee" occurs twice, written with other characters or spaces'],
  ["Ann", "A\u200Bnn", '"A\u200Bnn" occurs twice, written with other characters or spaces'],
  ["R&D Lee", "SÃO PAULO", undefined],
])("asks about the agents %s and %s", (one, other, doubt) => {
  const [state, reason] = about("agent", ["Ticket ID", "Agent"], ["t-1", one], ["t-2", other]);
  expect([state, reason]).toEqual(doubt === undefined ? ["found", "by name"] : ["asked", `by name, but ${doubt}`]);
});

it("says what it takes out of brackets, and whose address it is", () => {
  const [state, reason] = about(
    "agent",
    ["Ticket ID", "Agent"],
    ["t-1", "[Ann Lee]"],
    ["t-2", "['Zoë O'Neil']"],
    ["t-3", "[Zoë O'Neil]"],
  );
  expect([state, reason]).toEqual(["found", 'by name, without brackets: "[Ann Lee]" is "Ann Lee"']);
  const named = (...more: readonly string[]) =>
    about("agent", ["Ticket ID", "Assigned Agent", "Agent's email", ...more], ["t-1", "Ann", "ann@x.org", "Bob"])[0];
  expect([named(), named("Agent")]).toEqual(["found", "asked"]);
});

it("names a column whose values don't fit its name, and dates that a spreadsheet has perhaps swapped", () => {
  const rows = Array.from({ length: 15 }, (_, index) => [`t-${index}`, `x${index}`]);
  expect(about("status", ["Ticket ID", "Status"], ...rows)[1]).toBe(
    'by its name it is status, but values such as "x0" don\'t fit',
  );
  const dates = (text: string) =>
    about("completed_at", ["ID", "Closed at"], ["1", "2024-02-03"], ["2", "2024-11-05"], ["3", text]);
  expect(dates("3/25/2024")[1]).toContain("day and month of the others may be swapped");
  expect(dates("3/5/2024")[1]).not.toContain("swapped");
});

it.each([
  [
    "two people",
    "agent",
    ["Ticket ID,Agent,Owner,Owner email", "t-1,Ann Lee,Rep 1,rep1@x.org", "t-2,Bob Stone,Rep 2,rep2@x.org"],
    'by name, but "Agent" may be meant',
    ["Owner", "Owner email", "Agent"],
  ],
  [
    "the assignee and who closed it",
    "agent",
    ["Ticket ID,Assigned to,Closed by", "t-1,Ann Lee,Bob Stone"],
    'by name, but "Closed by" may be meant',
    ["Assigned to", "Closed by"],
  ],
  [
    "people in brackets",
    "agent",
    ["Ticket ID,Agent", "t-1,{Ann Lee}", "t-2,[]"],
    'by name, but values such as "{Ann Lee}" are in brackets, which would be part of the name',
    ["Agent"],
  ],
  [
    "several people in a value",
    "agent",
    ["Ticket ID,Agent", "t-1,Ann Lee; Bob Stone", "t-2,Ann Lee"],
    'by name, but values such as "Ann Lee; Bob Stone" name several people',
    ["Agent"],
  ],
  [
    "a grouped report",
    "agent",
    ["Case Owner,Case Number", "Ann Lee,1007", ",1009", "Bob Stone,1013", ",1017", "Ann Lee,1019", ",1021"],
    "by name, but only the first row of each group has a value",
    ["Case Owner"],
  ],
  [
    "two statuses",
    "status",
    ["Ticket ID,Status,Ticket status", "t-1,Active,Closed", "t-2,Active,Open"],
    'by name, but "Ticket status" may be meant',
    ["Status", "Ticket status"],
  ],
  [
    "a status and its reason",
    "status",
    ["Ticket ID,Status,Status Reason", "t-1,Resolved,Problem Solved", "t-2,Active,In Progress"],
    'by name, but "Status Reason" may be meant',
    ["Status", "Status Reason"],
  ],
  [
    "two types",
    "type",
    ["Ticket ID,Type,Ticket type", "t-1,gold,bug", "t-2,gold,question"],
    'by name, but "Ticket type" may be meant',
    ["Type", "Ticket type"],
  ],
  [
    "telephone numbers",
    "external_id",
    ["Number,Agent", "+15550000001,Ann Lee", "+15550000002,Bob Stone", "+49 30 1234567,Bob Stone"],
    'by name, but values such as "+15550000001" look like telephone numbers',
    ["Number"],
  ],
  [
    "an ID that repeats beside one that doesn't",
    "external_id",
    ["ID,Ticket ref,Agent", "c-1,R-1,Ann Lee", "c-2,R-2,Bob Stone", "c-1,R-3,Bob Stone"],
    'by values: no two are the same, but "ID" may be meant',
    ["Ticket ref", "ID"],
  ],
  [
    "an ID that most rows repeat",
    "external_id",
    [
      "Number,Agent,Updated at",
      "INC1007,Ann,2024-03-01",
      "INC1007,Bob,2024-03-02",
      "INC1009,Ann,2024-03-03",
      "INC1009,Ann,2024-03-04",
    ],
    "by name, but 2 rows repeat an ID",
    ["Number"],
  ],
  [
    "two IDs",
    "external_id",
    ["ID del ticket,Número del ticket,Agente", "90001,101,Ana", "90003,102,Eva"],
    'by name, but "Número del ticket" may be meant',
    ["ID del ticket", "Número del ticket"],
  ],
  [
    "completions in the future",
    "completed_at",
    ["Task ID,Completion date", "h-1,2027-05-01", "h-2,2027-05-02"],
    'by name and values, but "2027-05-01" would be 1 May 2027, in the future',
    ["Completion date"],
  ],
  [
    "completions of which not all are dates",
    "completed_at",
    ["Task ID,Closed at", "h-1,2025-05-01", "h-2,soon", "h-3,2025-05-03"],
    "by name and values, but 1 of 3 values don't look like dates",
    ["Closed at"],
  ],
  [
    "day numbers of a spreadsheet",
    "completed_at",
    ["Ticket ID,Closed at", "o-1,45351.5", "o-2,45352.5"],
    expect.stringMatching(/^by its name it has completion dates, but values such as "45351.5" can't be read as dates/),
    ["Closed at"],
  ],
])("asks about %s", (_, target, lines, reason, columns) => {
  expect(about(target, ...lines.map((line) => line.split(",")))).toEqual(["asked", reason, columns]);
});

it("proposes no ID that most rows repeat", () => {
  const rows = ["INC1007", "INC1007", "INC1009", "INC1009"].map((id) => [id, "Ann Lee"]);
  expect(unsetTargets(evidenceOf([["Number", "Agent"], ...rows]))).toContain("external_id");
  const few = ["INC1007", "INC1007", "INC1009", "INC1012"].map((id) => [id, "Ann Lee"]);
  expect(unsetTargets(evidenceOf([["Number", "Agent"], ...few]))).not.toContain("external_id");
});

it("asks about a date in the future or before 2000, however late it stands in the file", () => {
  const rows = Array.from({ length: 600 }, (_, row) => [`t-${row}`, `2024-05-01T10:00:${10 + (row % 50)}Z`]);
  expect(about("completed_at", ["Ticket ID", "Closed at"], ...rows)[0]).toBe("found");
  for (const late of ["2062-05-01T10:00:00Z", "1970-01-02T10:00:00Z"]) {
    const [state, reason] = about(
      "completed_at",
      ["Ticket ID", "Closed at"],
      ...rows,
      ["t-600", late],
      ...rows.slice(0, 9),
    );
    expect([state, reason]).toEqual(["asked", expect.stringContaining(`"${late}" would be`)]);
  }
});

it.each(Object.entries({ ...WORK_ITEM_FIELDS, external_id: { label: "External ID" } }))(
  "recognizes %s by what the page calls it",
  (field, { label }) => {
    if (field === "custom_attributes") return;
    const cells: Readonly<Record<string, string>> = {
      agent_email: "ann@desk.example",
      completed_at: "2024-03-13T20:15:00Z",
      status: "Open",
    };
    const { columns } = evidenceOf([
      [label, "Note"],
      [cells[field] ?? "a-1", "x"],
    ]);
    expect(columns[0]).toMatchObject({ target: field, certainty: "certain" });
  },
);

/** Layouts of systems whose names of columns are in no list of this project, and their targets that are found. */
const UNKNOWN: Readonly<Record<string, readonly [header: string, rows: readonly string[], states: string]>> = {
  "a Russian service desk": [
    "Номер обращения,Исполнитель,Статус,Дата закрытия,Тип,Тема",
    [
      "ОБР-10,Анна Ли,Открыт,,Инцидент,Не печатает принтер",
      "ОБР-11,Борис Стоун,Закрыт,14.03.2024 09:30,Запрос,Нет бумаги",
    ],
    "asked missing missing missing missing missing",
  ],
  "a Japanese help desk": [
    "チケット番号,担当者,状態,完了日時,種別,件名",
    ["4000,佐藤 花子,対応中,,障害,印刷できません", "4003,鈴木 一郎,完了,2024/03/14 09:30,障害,紙がありません"],
    "asked missing missing missing missing missing",
  ],
  "a Chinese one": [
    "工单号,处理人,状态,完成时间,类型,标题",
    ["GD000001,王伟,处理中,,故障,打印机故障", "GD000003,李娜,已完成,2024-03-14 09:30:00,故障,没有纸"],
    "asked missing missing missing missing missing",
  ],
  "an inbox with assigned users": [
    "Conversation ID,Assigned Users,State,Finished On,Topic",
    ["c00001,Ann Lee,Open,,Order 1", "c00003,Bob Stone,Done,2024-03-14T09:30:00Z,Order 2"],
    "found asked found found missing missing",
  ],
  "a board with members": [
    "Card ID,Card Name,Members,Swimlane,Last Activity Date",
    [
      "5f01,Fix the door,Ann Lee | Bob Stone,Kitchen,2024-03-13T09:30:00Z",
      "5f03,Paint it,Ann Lee,Cellar,2024-03-14T09:30:00Z",
    ],
    "asked missing missing missing missing missing",
  ],
  "a dialer with timestamps": [
    "CALL GUID,TIMESTAMP,CALL TYPE,USERNAME,DISPOSITION",
    ["0000a1-11,2024-03-13 10:00:00,Inbound,alee,Sale", "0000b3-12,2024-03-14 10:00:00,Manual,bstone,No answer"],
    "asked missing missing missing missing missing",
  ],
  "a Polish desk": [
    "Numer zgłoszenia,Przypisany do,Stan,Data zamknięcia,Temat",
    ["ZG/1/2024,Ann Lee,Otwarte,,Drukarka", "ZG/3/2024,Bob Stone,Zamknięte,2024-03-14 09:30,Papier"],
    "asked missing missing missing missing missing",
  ],
  "an Italian one": [
    "Codice,Assegnatario,Stato,Chiuso il,Oggetto",
    ["A-900,Ann Lee,Aperto,,Stampante", "A-903,Bob Stone,Chiuso,14/03/2024 09:30,Carta"],
    "asked missing missing missing missing missing",
  ],
  "a Korean call centre": [
    "접수번호,상담원,처리상태,완료일시,제목",
    ["R20240314001,김민수,접수,,프린터 고장", "R20240314007,이영희,완료,2024-03-14 09:30,용지 없음"],
    "asked missing missing missing missing missing",
  ],
  "a Dutch one": [
    "Zaaknummer,Behandelaar,Status,Afgesloten op,Onderwerp",
    ["Z-00001,Ann Lee,Open,,Printer", "Z-00003,Bob Stone,Gesloten,14-03-2024 09:30,Papier"],
    "asked missing asked missing missing missing",
  ],
};

it.each(Object.entries(UNKNOWN))("says of %s what it doesn't recognize", (_, [header, rows, states]) => {
  const evidence = evidenceOf([header, ...rows].map((line) => line.split(",")));
  const found = targetStates(evidence);
  expect(found.map(({ state }) => state).join(" ")).toBe(states);
  expect(isReady(found)).toBe(false);
  const set = new Set(Object.keys(evidence.mapping.fields ?? {}).map((field) => field.replace(/^agent_.*/, "agent")));
  const isSet = (target: string): boolean => set.has(target) || set.has(`custom_attributes.${target}`);
  expect(found.filter(({ target }) => !isSet(target)).map(({ target }) => target)).toEqual(unsetTargets(evidence));
});

it("asks about a date in the future after its order is known, and about no other date", () => {
  const statesOf = (closed: string) => {
    const evidence = evidenceOf([
      ["Ticket ID", "Closed at"],
      ["t-1", closed],
      ["t-2", "01/02/2024"],
    ]);
    return [evidence.questions ?? [], []].map((questions) => {
      const states = targetStates({ ...evidence, questions });
      return states.find(({ target }) => target === "completed_at")?.state;
    });
  };
  expect(statesOf("02/03/2024")).toEqual(["asked", "found"]);
  expect(statesOf("02/03/2099")).toEqual(["asked", "asked"]);
});
