import { describe, expect, it } from "vitest";
import {
  aliasesOf,
  CHOICE_FIELDS,
  choicesOf,
  meaningsIn,
  suggestionsIn,
} from "../../../../apps/importer/proposals/known-choices.ts";
import { proposeMapping } from "../../../../apps/importer/proposals/propose-mapping.ts";

const [EARLIER, LATER] = ["2024-03-13 20:15", "2024-03-14 09:30"] as const;
/** What stands below a header, two rows. */
const CELLS: Readonly<Record<string, readonly [string, string]>> = {
  external_id: ["4711", "4712"],
  status: ["Closed", "Open"],
  completed_at: [EARLIER, LATER],
  agent_name: ["Ann Lee", "Bob Stone"],
  agent_email: ["ann@desk.example", "bob@desk.example"],
  agent_external_id: ["360001", "360002"],
  type: ["Incident", "Incident"],
  "custom_attributes.short_description": ["Printer is broken", "Paper is missing"],
  "custom_attributes.description": ["It is broken.", "It is missing."],
  other: ["Some text", "Other text"],
};

/** Headers of exports by system and language, and what each means; a question mark says that it needs a look. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Zendesk (en)": {
    external_id: "ID, Id, Ticket ID, Ticket #",
    status: "Status, Ticket status",
    completed_at: "Solved at, Ticket solved - Timestamp, Ticket solved - Date",
    agent_name: "Assignee, Assignee name",
    agent_external_id: "Assignee id",
    agent_email: "Assignee email",
    type: "Ticket type, Type",
    "custom_attributes.short_description": "Subject, Ticket subject",
    other: "Requester, Requester email, Submitter, Group, Organization, Created at, Updated at, Assigned at, Via",
  },
  "Zendesk (de)": {
    external_id: "Ticket-ID",
    status: "Status, Ticketstatus",
    completed_at: "Gelöst am, Geschlossen am",
    agent_name: "Mitarbeiter, Zugewiesener Mitarbeiter",
    type: "Tickettyp",
    "custom_attributes.short_description": "Betreff",
    other: "Anfragender, Gruppe, Erstellt am",
  },
  "Zendesk (fr)": {
    external_id: "ID du ticket, N° de ticket",
    status: "Statut, Statut du ticket",
    completed_at: "Résolu le",
    agent_name: "Assigné, Assigné à",
    type: "Type de ticket",
    "custom_attributes.short_description": "Sujet, Objet",
    other: "Demandeur, Groupe, Créé le",
  },
  "Zendesk (es)": {
    external_id: "ID del ticket",
    status: "Estado, Estado del ticket",
    completed_at: "Resuelto el",
    agent_name: "Agente asignado, Asignado a",
    type: "Tipo de ticket",
    "custom_attributes.short_description": "Asunto",
    other: "Solicitante, Grupo, Creado el",
  },
  "Freshdesk (en)": {
    external_id: "Ticket ID",
    status: "Status",
    completed_at: "Closed time, Resolved time",
    agent_name: "Agent",
    type: "Type",
    "custom_attributes.short_description": "Subject",
    other: "Full name, Email, Contact ID, Created time, Due by Time, Agent interactions, Resolution status",
  },
  "Freshdesk (de)": {
    external_id: "Ticket-ID",
    completed_at: "Gelöst um, Geschlossen um",
    agent_name: "Agent",
    "type?": "Typ",
    other: "Erstellt um, Fällig bis",
  },
  "Freshdesk (fr)": {
    completed_at: "Heure de résolution, Heure de clôture, Heure de fermeture",
    agent_name: "Agent",
    other: "Heure de création",
  },
  "Freshdesk (es)": {
    completed_at: "Hora de resolución, Hora de cierre",
    agent_name: "Agente",
    "type?": "Tipo",
    other: "Hora de creación",
  },
  "Jira (en)": {
    external_id: "Issue key, Issue id, Key",
    status: "Status",
    completed_at: "Resolved, resolutiondate",
    agent_name: "Assignee",
    agent_external_id: "Assignee Id",
    type: "Issue Type",
    "custom_attributes.short_description": "Summary",
    "custom_attributes.description": "Description",
    other: "Reporter, Creator, Project lead, Created, Resolution, Status Category Changed",
  },
  "Jira (de)": {
    external_id: "Vorgangsschlüssel, Vorgangs-ID",
    completed_at: "Erledigt, Gelöst",
    agent_name: "Zugewiesene Person, Bearbeiter",
    type: "Vorgangstyp",
    "custom_attributes.short_description": "Zusammenfassung",
    "custom_attributes.description": "Beschreibung",
    other: "Autor, Erstellt",
  },
  "Jira (fr)": {
    external_id: "Clé de ticket, ID de ticket",
    status: "État",
    completed_at: "Résolue, Résolu",
    agent_name: "Responsable, Personne assignée",
    type: "Type de ticket",
    "custom_attributes.short_description": "Résumé",
    other: "Rapporteur, Créé",
  },
  "Jira (es)": {
    external_id: "Clave de incidencia, ID de incidencia",
    status: "Estado",
    completed_at: "Resuelta",
    agent_name: "Persona asignada, Responsable",
    type: "Tipo de Incidencia",
    "custom_attributes.short_description": "Resumen",
    other: "Informador, Creada",
  },
  "ServiceNow (en)": {
    external_id: "Number",
    status: "State, Incident state, incident_state",
    completed_at: "Closed, Resolved, closed_at, resolved_at",
    agent_name: "Assigned to, assigned_to",
    "type?": "Category",
    "custom_attributes.short_description": "Short description, short_description",
    other: "Caller, caller_id, Opened, Opened by, Assignment group, Updated by, Priority",
  },
  "ServiceNow (de)": {
    external_id: "Nummer",
    completed_at: "Geschlossen, Gelöst",
    agent_name: "Zugewiesen an, Zugewiesen zu",
    "type?": "Kategorie",
    "custom_attributes.short_description": "Kurzbeschreibung",
    other: "Anrufer, Geöffnet, Zuweisungsgruppe",
  },
  "ServiceNow (fr)": {
    external_id: "Numéro",
    status: "État",
    completed_at: "Fermé, Résolu",
    agent_name: "Affecté à, Attribué à",
    "type?": "Catégorie",
    "custom_attributes.short_description": "Brève description",
    other: "Appelant, Ouvert, Groupe d'affectation",
  },
  "ServiceNow (es)": {
    external_id: "Número",
    status: "Estado",
    completed_at: "Cerrado, Resuelto",
    agent_name: "Asignado a",
    "type?": "Categoría",
    "custom_attributes.short_description": "Breve descripción",
    other: "Solicitante, Abierto, Grupo de asignación",
  },
  "Salesforce report": {
    external_id: "Case Number, Número del caso, Numéro de la requête, Kundenvorgangsnummer",
    status: "Status, Statut",
    completed_at:
      "Date/Time Closed, Closed Date, Datum/Uhrzeit des Abschlusses, Date/Heure de fermeture, Fecha/Hora de cierre",
    agent_name: "Case Owner, Propriétaire de la requête, Propietario del caso, Kundenvorgangsinhaber",
    type: "Type, Case Type",
    "custom_attributes.short_description": "Subject",
    other: "Account Name, Contact Name, Contact Email, Created By, Case Origin, Date/Time Opened",
  },
  "Salesforce Data Loader": {
    external_id: "ID, CASENUMBER, CaseNumber",
    status: "STATUS, Status",
    completed_at: "CLOSEDDATE, ClosedDate",
    agent_external_id: "OWNERID, OwnerId",
    agent_name: "OWNER.NAME, Owner.Name",
    agent_email: "OWNER.EMAIL, Owner.Email",
    type: "TYPE",
    "custom_attributes.short_description": "SUBJECT",
    "custom_attributes.description": "DESCRIPTION",
    other: "CONTACTEMAIL, CONTACTID, ACCOUNTID, SUPPLIEDEMAIL, CREATEDDATE, CREATEDBYID, LASTMODIFIEDDATE",
  },
  HubSpot: {
    external_id: "Ticket ID, ID du ticket, ID de ticket",
    status: "Ticket status, Ticketstatus, Statut du ticket, Estado del ticket",
    completed_at: "Close date, Schließdatum, Abschlussdatum, Date de fermeture, Fecha de cierre",
    agent_name: "Ticket owner, Ticketinhaber, Propriétaire du ticket, Propietario del ticket",
    "type?": "Category",
    "custom_attributes.short_description": "Ticket name, Nom du ticket, Nombre del ticket",
    other: "Pipeline, Create date, Associated Contact, Source",
  },
  Intercom: {
    external_id: "Conversation ID",
    status: "Conversation state, Current conversation state",
    completed_at: "Last closed at, Conversation last closed at, Ticket last resolved (America/Sao_Paulo)",
    agent_name: "Teammate currently assigned, Teammate assigned",
    agent_external_id: "Teammate currently assigned ID",
    other:
      "User name, User email, From, Conversation started at, Contact external ID, Conversation created at (America/New_York), Team currently assigned",
  },
  "GLPI (en, de, fr, es)": {
    external_id: "ID",
    status: "Status, Statut, Estado",
    completed_at:
      "Closing date, Resolution date, Solution date, Abschlussdatum, Lösungsdatum, Date de clôture, Date de résolution, Date de solution, Fecha de cierre, Fecha de solución",
    agent_name:
      "Assigned to - Technician, Zugewiesen an - Techniker, Attribué à - Technicien, Asignado a - Técnico, Technician",
    "type?": "Category, Kategorie, Catégorie, Categoría",
    "custom_attributes.short_description": "Title, Titel, Titre, Título",
    other:
      "Entity, Opening date, Requester - Requester, Anforderer, Demandeur - Demandeur, Time to resolve, Last update",
  },
};

const ROWS = Object.entries(HEADERS).flatMap(([system, targets]) =>
  Object.entries(targets).flatMap(([target, names]) =>
    names.split(", ").map((name) => [system, name, target.replace("?", ""), target.endsWith("?")] as const),
  ),
);

const propose = (names: readonly string[], ...rows: readonly (readonly string[])[]) =>
  proposeMapping({ names, rows, delimiter: ",", timeZone: "UTC", isZoneChosen: true, now: Date.now() });

describe("the header of an export", () => {
  it.each(ROWS)("%s: %s becomes %s", (_, name, target, needsLook) => {
    const isId = target === "external_id";
    const cells = CELLS[target]!;
    const names = [...(isId ? [] : ["external_id"]), name];
    const proposal = propose(names, ...cells.map((cell, index) => [...(isId ? [] : [String(index)]), cell]));
    const found = proposal.columns.at(-1);
    const expected = target === "other" ? [undefined, "unknown"] : [target, needsLook ? "likely" : "certain"];
    expect([found?.target, found?.certainty]).toEqual(expected);
  });
});

describe("a whole export", () => {
  /** The first of the names of each target, and all others. */
  const columnsOf = (targets: Readonly<Record<string, string>>) =>
    Object.entries(targets).flatMap(([target, list]) => {
      const names = list.split(", ");
      return (target === "other" ? names : names.slice(0, 1)).map((name) => ({
        name,
        target: target.replace("?", ""),
      }));
    });
  /** Other people have names and addresses, as agents have. */
  const cellOf = (name: string, target: string, row: 0 | 1): string => {
    if (target !== "other") return CELLS[target]![row];
    return /mail/i.test(name) ? `dora${row}@customer.example` : `Dora Kunz ${row}`;
  };

  it.each(Object.entries(HEADERS))("of %s has its agent, and no other person", (_, targets) => {
    const columns = columnsOf(targets);
    const rows = ([0, 1] as const).map((row) => columns.map(({ name, target }) => cellOf(name, target, row)));
    const names = columns.map(({ name }) => name);
    const proposal = propose(names, ...rows);
    expect(proposal.columns.map(({ column, target }) => [column, target])).toEqual(
      columns.map(({ name, target }) => [name, target === "other" ? undefined : target]),
    );
  });
});

/** Statuses of the same systems. Those that systems mean differently are asked. */
const STATUSES: Readonly<Record<string, string>> = {
  pending:
    "New, Open, Pending, To Do, Backlog, Selected for Development, New (Support Pipeline), Neu, Offen, Wartend, Zu erledigen, Nouveau, Ouvert, En attente, À faire, Nuevo, Abierto, Pendiente, Tareas por hacer",
  in_progress:
    "In Progress, Work in progress, Working, Processing (assigned), Processing (planned), In Bearbeitung, In Bearbeitung (zugewiesen), In Bearbeitung (geplant), In Bearbeitung (mit Zeitplan), In Arbeit, En cours, En cours (Attribué), En cours (Planifié), En curso, En curso (asignado), En curso (planificado)",
  completed:
    "Solved, Resolved, Closed, Done, Closed (Support Pipeline), Gelöst, Geschlossen, Erledigt, Fertig, Résolu, Résolu(e), Clos, Fermé, Terminé(e), Resuelto, Cerrado, Finalizada, Listo",
  cancelled: "Cancelled, Canceled, CANCELLED, Won't do, Storniert, Abgebrochen, Annulé, Cancelado, Cancelada",
  undefined:
    "Hold, On Hold, On-hold, En espera, Deleted, Escalated, Reopened, Snoozed, Blocked, Spam, In Wartestellung, Assigned, Waiting, Waiting on Customer, Waiting on Third Party, Waiting for customer, Waiting for support, Waiting on contact, Waiting on us, Awaiting caller, Warten auf Kunden, En attente du client",
};

it.each(
  Object.entries(STATUSES).flatMap(([status, words]) => words.split(", ").map((word) => [word, status] as const)),
)("the status %s means %s", (word, status) => {
  expect(String(meaningsIn("status", [])(word))).toBe(status);
});

it.each(CHOICE_FIELDS)("the choices of %s mean themselves, however they are spelled", (target) => {
  for (const choice of choicesOf(target) ?? []) {
    const spelled = choice.toUpperCase().replaceAll("_", " ");
    expect(aliasesOf(target, [spelled]).values).toEqual({ [spelled]: choice });
    expect(meaningsIn(target, [])(choice)).toBe(choice);
  }
});

it("asks what Open means beside words of Zendesk, where an agent has such work", () => {
  expect(aliasesOf("status", ["Open", "Closed"]).values).toEqual({ Open: "pending", Closed: "completed" });
  expect(aliasesOf("status", ["Open", "New", "Closed"]).values).toEqual({ New: "pending", Closed: "completed" });
  expect(aliasesOf("status", ["Open", "Pending", "Closed"]).values).toEqual({
    Pending: "pending",
    Closed: "completed",
  });
  expect(aliasesOf("status", ["Open", "Solved"]).values).toEqual({ Solved: "completed" });
});

it("suggests what known words of one meaning say, unless another word turns them", () => {
  const said = "Problem Solved, Neu (Web), Waiting on Customer, On-hold, Not solved, Isn't solved, Re-opened, Unsolved";
  const texts = [...said.split(", "), "Solved/new", "Household"];
  const suggested = ["completed", "pending", "in_progress", "in_progress", ...texts.slice(4).map(() => undefined)];
  expect(texts.map(suggestionsIn("status", texts))).toEqual(suggested);
  expect(suggestionsIn("status", ["Solved"])("Open (2nd line)")).toBe(undefined);
});

it("reads times in the zone that their header names, and asks nothing", () => {
  const names = ["Conversation ID", "Last closed at (America/New_York)"];
  const rows = [["1", EARLIER]];
  const { mapping, columns, questions } = proposeMapping({
    names,
    rows,
    delimiter: ",",
    timeZone: "Europe/Berlin",
    now: Date.now(),
  });
  expect(mapping.fields?.["completed_at"]).toEqual({ column: names[1], time_zone: "America/New_York" });
  expect([columns[1]?.certainty, questions]).toEqual(["certain", []]);
});

it.each([
  ["Resolved", "13/Jun/23 8:15 PM"],
  ["Date/Time Closed", "6/13/2023 8:15 PM"],
  ["closed_at", "05-13-2016 12:00"],
])("reads %s such as %s as the time of completion", (name, cell) => {
  const { columns } = propose(["ID", name], ["1", cell]);
  expect(columns[1]).toMatchObject({ target: "completed_at", certainty: "certain" });
});

describe("an agent", () => {
  it.each([
    ["Agent First Name", "Agent Last Name"],
    ["Bearbeiter Vorname", "Bearbeiter Nachname"],
    ["Prénom de l'agent", "Nom de l'agent"],
    ["Nombre del agente", "Apellidos del agente"],
  ])("is made of %s and %s", (first, last) => {
    const { mapping, columns } = propose(["ID", last, first], ["1", "Lee", "Ann"], ["2", "Stone", "Bob"]);
    expect(mapping.fields?.["agent_name"]).toEqual({ columns: [first, last] });
    expect(columns.slice(1).map(({ target, certainty }) => [target, certainty])).toEqual([
      ["agent_name", "certain"],
      ["agent_name", "certain"],
    ]);
  });

  it("is nobody where the text says so, in the whole file", () => {
    const words = ["No Agent", "Unassigned", "-", "Nicht zugewiesen", "Non assigné", "Sin asignar"];
    const { mapping } = propose(["ID", "Agent"], ...words.map((word, index) => [String(index), word]), ["9", "Ann"]);
    expect(mapping.fields?.["agent_name"]?.values).toEqual(Object.fromEntries(words.map((word) => [word, ""])));
  });

  it("is split into name and email, where both stand in one value", () => {
    const { mapping } = propose(["ID", "Owner"], ["1", "Ann Lee (ann@x.org)"], ["2", "Bob <bob@x.org>"], ["3", "Cy"]);
    expect(mapping.fields).toMatchObject({
      agent_name: { column: "Owner", values: { "Ann Lee (ann@x.org)": "Ann Lee", "Bob <bob@x.org>": "Bob" } },
      agent_email: { values: { "Ann Lee (ann@x.org)": "ann@x.org", "Bob <bob@x.org>": "bob@x.org" }, otherwise: "" },
    });
  });

  it("has the email of a second column with the same header", () => {
    const { mapping } = propose(["ID", "Agent", "agent"], ["1", "Bob Stone", "bob@x.org"], ["2", "Cy", "cy@x.org"]);
    expect(mapping.fields).toMatchObject({ agent_name: { column: "Agent" }, agent_email: { column: "agent (2)" } });
  });

  it.each([
    ["rep", "TRUE", "FALSE"],
    ["Agent", "1", "0"],
    ["Assignee", "12.5%", "40%"],
  ])("is not in %s with %s and %s", (name, ...values) => {
    const { columns } = propose(["ID", name], ...values.map((value, index) => [String(index), value]));
    expect(columns[1]?.target).toBeUndefined();
  });
});

describe("nothing is certain", () => {
  it("of the first of two columns with a name, and no empty word is a type", () => {
    const { columns, mapping } = propose(["ID", "Type", "type"], ["1", "call", "voice"], ["2", "-", "voice"]);
    expect(columns.map(({ certainty }) => certainty)).toEqual(["certain", "likely", "unknown"]);
    expect(mapping.fields?.["type"]).toEqual({ column: "Type", values: { "-": "" } });
  });

  const REWRITTEN = "a spreadsheet or script has rewritten values such as";
  const many = (count: number, cell: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => [`T-${index}`, cell(index)]);
  it("of statuses, none of which is known", () => {
    expect(propose(["ID", "Status"], ...many(200, (index) => `word ${index}`)).columns[1]?.target).toBeUndefined();
    const few = propose(["ID", "Status"], ...many(30, (index) => ["gold", "silver"][index % 2]!));
    expect(few.columns[1]).toMatchObject({ target: "status", certainty: "likely" });
    expect(few.unknownWords).toEqual([{ target: "status", words: ["gold", "silver"] }]);
  });

  it.each([
    ["#", (index: number) => `${index + 1}`, 'its values only number the rows; "Ticket" may be meant'],
    ["Nr.", (index: number) => `${index}`, 'its values only number the rows; "Ticket" may be meant'],
    ["Ticket ID", (index: number) => `4,9${index}E+11`, `${REWRITTEN} "4,90E+11"`],
  ])("of the IDs in %s", (name, idOf, doubt) => {
    const rows = Array.from({ length: 5 }, (_, index) => [idOf(index), `${88_120 + index}`]);
    expect(propose([name, "Ticket"], ...rows).columns[0]).toMatchObject({
      target: "external_id",
      certainty: "likely",
      reason: `by name, but ${doubt}`,
    });
  });

  it.each([
    ["05/mai/24 3:01 PM", ""],
    ["2024.03.04", ""],
    ["45355.5", "a spreadsheet's day number"],
    ["45078,4375", "a spreadsheet's day number"],
    ["1718309736123456", "a Unix time in microseconds"],
    ["1718309736123456.7", "a Unix time in microseconds"],
    ["1718309736123456789", "a Unix time in nanoseconds"],
    ["20240613201536Z", ""],
    ["20240613201536.5", ""],
    ["99999999", ""],
  ])("of a completion date such as %s, which is kept", (date, count) => {
    const { columns, mapping } = propose(["Ticket ID", "Closed at"], ["1", date], ["2", ""]);
    expect(columns[1]).toMatchObject({ target: undefined, certainty: "likely" });
    expect(columns[1]?.reason).toBe(
      `by its name it has completion dates, but values such as "${date}" can't be read as dates${count === "" ? "" : `; it looks like ${count}. Export the column as dates`}`,
    );
    expect([mapping.fields?.["completed_at"], mapping.others]).toEqual([undefined, "custom_attributes"]);
    expect(propose(["Ticket ID", "Ended at"], ["1", date]).columns[1]?.reason).toBe(columns[1]?.reason);
    expect(propose(["Ticket ID", "Resolution time"], ["1", "04:10:00"], ["2", "1234.5"]).columns[1]?.certainty).toBe(
      "unknown",
    );
  });

  it.each(["first_name", "Email", "Subject", "Created at", "Duration", "Total"])("of %s as an ID", (name) => {
    const cells = ["Ann", "Bob", "Cy"];
    expect(propose([name, "Group"], ...cells.map((cell) => [cell, "a"])).columns[0]?.target).not.toBe("external_id");
  });
});

it("takes no counts for IDs, although no two are the same, but numbers that are called so", () => {
  const rows = [
    ["Ann", "5"],
    ["Ann", "6"],
  ];
  expect(propose(["Agent", "Calls"], ...rows).mapping.fields?.["external_id"]).toBeUndefined();
  expect(propose(["Agent", "Order No"], ...rows).columns[1]).toMatchObject({
    target: "external_id",
    certainty: "likely",
  });
});

it("keeps numbers as numbers, but no numbers that are names or begin with zeros", () => {
  const names = "ID,Replies,Score,Zip,Requester id,Code,Mixed,Marked,Kundennummer,Telefon,Umsatz,Weight".split(",");
  const rows = [
    ["1", "0", "1.5", "10115", "5001", "7", "1", "3", "4930000", "491712345", "1.234", "1.234"],
    ["2", "12", "-2", "20095", "5002", "8", "x", "-", "4930001", "491712346", "987", "0.5"],
  ];
  const { mapping } = propose(names, ...rows);
  expect(mapping).toEqual({
    fields: {
      external_id: { column: "ID" },
      "custom_attributes.Replies": { column: "Replies", as: "number" },
      "custom_attributes.Score": { column: "Score", as: "number" },
      // In Umsatz, "1.234" may be a thousand.
      "custom_attributes.Weight": { column: "Weight", as: "number" },
    },
    others: "custom_attributes",
  });
  expect(propose(["ID", "House"], ["1", "07"], ["2", "8"]).mapping.fields).toEqual({ external_id: { column: "ID" } });
});

it.each([
  [";", "1", { decimal: ",", Dauer: "number", Score: "number" }],
  [";", "1.5", { Score: "number" }],
  // "1,5" may be a list.
  [",", "1", { Score: "number" }],
] as const)("reads decimal commas between %s and beside %s only where they are clear", (delimiter, score, expected) => {
  const names = ["ID", "Dauer", "Umsatz", "Score"];
  const rows = [
    ["1", "0,25", "2,002", score],
    ["2", "1,5", "1,001", "2"],
  ];
  const sample = { names, rows, delimiter, timeZone: "UTC", now: Date.now() };
  const { fields = {}, decimal } = proposeMapping(sample).mapping;
  const types = names.map((name) => [name, fields[`custom_attributes.${name}`]?.as]);
  expect({ decimal, ...Object.fromEntries(types) }).toEqual(expected);
  const times = { names: ["ID", "Closed at", "Dauer"], rows: [["1", "1718309736.5", "0,5"]] };
  expect(proposeMapping({ ...sample, ...times }).mapping.decimal).toBe(undefined);
});
