import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";

/** What other systems call a work item; many names begin with it. */
const ITEM = String.raw`(?:ticket|case|issue|incident|conversation|request|work item|work order|item|task|record|vorgangs?|kundenvorgangs?|anfrage|fall|demande|requete|incidencia|solicitud|caso)`;
/** What can be between a property and its item. */
const OF = "(?:du|de|del|de la|de l|des|der|d)";
const ITEM_OF = String.raw`(?:${ITEM} )?`;

/** A rule about the names of columns, in the spelling of `plainWords`. @param isCertain whether the name alone leaves no doubt */
function rule(target: string, name: string, isCertain = true) {
  return { target, name: new RegExp(`^(?:${name})$`), isCertain };
}

/** Words for the end of an item, as adjectives and nouns, latest first: a ticket is solved before it is closed. */
const ENDS = [
  ["closed", "close|closing|closure"],
  ["solved", "solution"],
  ["resolved", "resolution"],
  ["completed", "completion"],
  ["finished|done", "finish"],
] as const;

/** What date columns are called in German, French and Spanish. */
const WHEN = "(?:date|heure|date heure|date et heure|fecha|hora|fecha hora|fecha y hora|datum|zeit|datum uhrzeit)";

/** The rules for all fields except the agent's, the most specific first. */
const RULES = [
  rule("external_id", "(?:external|unique) id"),
  rule("external_id", `${ITEM} ?(?:key|number|nummer|nr|no|numero|schlussel)`),
  rule("external_id", `${ITEM}s? ?id|(?:id|numero|cle|clave|reference) ${OF} ?${ITEM}`),
  rule("external_id", "number|id|key|nr|no|numero|nummer|reference|ref", false),
  rule("external_id", "(?:call|chat|interaction|session) ?id"),
  rule(
    "status",
    `${ITEM_OF}(?:status|statut)|${ITEM}status|statut ${OF} ?${ITEM}|incident state|(?:current )?conversation state`,
  ),
  rule("status", `${ITEM_OF}(?:state|zustand|etat|estado|stage)|(?:etat|estado) ${OF} ?${ITEM}`, false),
  ...ENDS.flatMap(([end, noun]) => [
    rule(
      "completed_at",
      `(?:date |date time |time |last )?${ITEM_OF}(?:last )?(?:${end})(?: ?at| on| ?date| time| datetime| timestamp)?`,
    ),
    rule("completed_at", `${ITEM_OF}(?:${noun}) ?(?:date|time)`),
  ]),
  rule(
    "completed_at",
    `(?:${ITEM_OF}|call |chat )(?:end|ended)(?: at| on)?(?: date| time)+|(?:call |chat )?ended(?: at)?`,
    false,
  ),
  rule("completed_at", `(?:geschlossen|abgeschlossen)(?: am| um)?|(?:abschluss|schliess)datum|${WHEN} des abschlusses`),
  rule("completed_at", "(?:gelost|erledigt)(?: am| um)?|(?:erledigungs|losungs)datum"),
  rule("completed_at", `${WHEN} de (?:fermeture|cloture)|(?:fermee?|clotur(?:e|ee)|clos)(?: le)?`),
  rule("completed_at", `${WHEN} de (?:resolution|solution)|(?:resolue?|terminee?)(?: le)?`),
  rule("completed_at", `${WHEN} de cierre|cerrad[oa](?: el)?`),
  rule("completed_at", `${WHEN} de (?:resolucion|solucion|finalizacion)|resuelt[oa](?: el)?`),
  rule("type", `type|${ITEM} type|${ITEM}typ|vorgangsart|type ${OF} ?${ITEM}|tipo ${OF} ?${ITEM}`),
  rule("type", `${ITEM_OF}category|kind|art|typ|tipo|kategorie|categorie|categoria`, false),
  rule("custom_attributes.short_description", `short description|${ITEM_OF}(?:subject|summary|title)|ticket name`),
  rule("custom_attributes.short_description", "betreff|titel|zusammenfassung|kurzbeschreibung|ticketname"),
  rule("custom_attributes.short_description", `objet|sujet|titre|resume|breve description|nom ${OF} ?${ITEM}`),
  rule("custom_attributes.short_description", `asunto|titulo|resumen|breve descripcion|nombre ${OF} ?${ITEM}`),
  rule("custom_attributes.description", `${ITEM_OF}(?:description|details)|beschreibung|descripcion`),
];

/** Whether a column may hold a status by its name, such as "Status reason" or "Substatus". */
export function mayBeStatus(name: string): boolean {
  return /status\b|\b(?:statut|state|stage|zustand|etat|estado)\b/.test(name);
}

/** The target of a column by its name, except the agent's; undefined if none is known. A lower rank is more specific. */
export function targetOfName(name: string) {
  const rank = RULES.findIndex((each) => each.name.test(name));
  const found = RULES[rank];
  return found && { target: found.target, isCertain: found.isCertain, rank };
}

/**
 * Roles of people who do the work, the most specific first. Fields of two roles are never mixed: the email of the
 * person who closed a ticket doesn't belong to the name of its assignee.
 */
const ROLES = [
  "assignees?|assigned to(?: technician)?|assigned agent|assigned user|assigned teammate|(?:agent|teammate|admin) (?:currently )?assigned|teammate assigned" +
    "|zugewiesen (?:an|zu)(?: techniker)?|zugewiesene(?:r|s)? (?:person|mitarbeiter|agent|benutzer)" +
    "|(?:personne )?assignee?(?: a)?|(?:attribue|affecte) a(?: technicien)?|agent assigne" +
    "|asignado a(?: tecnico)?|agente asignado|persona asignada",
  `owner|(?:ticket|fall|kundenvorgangs?) ?(?:inhaber|zustandiger)|inhaber(?: des ${ITEM})?|propriet?aire(?: ${OF} ?${ITEM})?|propietario(?: ${OF} ?${ITEM})?`,
  "agent|handler|resolver|advis[oe]r|representative|rep|teammate|technician|bearbeiter(?:in)?|sachbearbeiter(?:in)?|zustandige(?:r|person)?|mitarbeiter(?:in)?|techniker(?:in)?|technicien(?:ne)?|responsable|agente|tecnico|conseiller|bearbeitet von",
  "(?:handled|resolved|solved|closed|completed|answered) by",
];
/** Details of a person, named after the role. */
const DETAILS: Readonly<Record<string, string>> = {
  agent_email: "(?:email|mail)(?: address| adresse)?",
  agent_external_id: "(?:user |employee |external |sys |account )?(?:id|key|number)",
  agent_name: "(?:full |display )?name",
  first_name: "(?:first|given) ?name|vorname|prenom|nombre",
  last_name: "(?:last|family) ?name|surname|nachname|nom|apellidos?",
};
const BEFORE_ROLE = String.raw`(?:(?:${ITEM}|current|currently|primary|hubspot|support|service|last) ?)*`;
const AGENTS = ROLES.map(
  (role) =>
    new RegExp(
      `^${BEFORE_ROLE}(?<role>${role})(?: ?(?:${Object.entries(DETAILS)
        .map(([target, detail]) => `(?<${target}>${detail})`)
        .join("|")}))?$`,
    ),
);
const OF_ROLE = /^(email|mail|id|name|prenom|nom|nombre|apellidos?) (?:of the|of|de l|del|de|du|des|der) (.+)$/;

/** A column about the person who does the work. */
export interface AgentName {
  /** Index in `ROLES`. */
  readonly rank: number;
  /** What the person is called. */
  readonly role: string;
  /** The field by the name, or `first_name` or `last_name`; undefined if only the cells show it. */
  readonly target: string | undefined;
}

/** The agent's detail in a column, by its name; undefined if it is about someone or something else. */
export function agentOfName(name: string): AgentName | undefined {
  const text = name.replace(OF_ROLE, "$2 $1");
  for (const [rank, pattern] of AGENTS.entries()) {
    const { role, ...details } = pattern.exec(text)?.groups ?? {};
    if (role === undefined) continue;
    return { rank, role, target: Object.keys(details).find((target) => details[target] !== undefined) };
  }
  return undefined;
}

const IN_ROLE = new RegExp(String.raw`\b(?:${ROLES.join("|")})s?\b`);
const GROUP = /\b(?:teams?|groups?|queues?|departments?|roles?|gruppen?|abteilung|equipes?|equipos?|grupos?)\b/;

/** Whether a name is about groups of people, such as "Team". */
export function isOfGroups(name: string): boolean {
  return GROUP.test(name);
}

/** Whether a column may hold the agent by its name, such as "Handling agent" or "Assigned users". */
export function mayBeAgent(name: string): boolean {
  return IN_ROLE.test(name) && !isOfGroups(name) && !isCustomer(name);
}

const CUSTOMER = new RegExp(
  String.raw`\b(?:customers?|clients?|requesters?|requestor|reporter|contacts?|callers?|from|sender|submitter|consumer|buyer|guest|visitor|lead|account|company|organi[sz]ation|kund(?:e|en|in)|melder|absender|anfrager|anfragender|anforderer|antragsteller|anrufer|demandeur|appelant|rapporteur|solicitante|informador|remitente)\b`,
);

/** Whether a name is about the customer, not the agent. */
export function isCustomer(name: string): boolean {
  return CUSTOMER.test(name) && agentOfName(name) === undefined;
}

/**
 * A header or a status in the spelling of known words: lower case, no accents, single spaces. `Assignee E-Mail`,
 * `assignee_email` and `assigneeEmail` become the same, and so do `Ticket #` and `ticket number`, `Agent’s ID` and `agent id`.
 */
export function plainWords(text: string): string {
  return text
    .replaceAll(/['’]s\b/gi, "")
    .replaceAll("#", " number ")
    .replaceAll(/\bn°/gi, " numero ")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .replaceAll(/\be mail\b/g, "email")
    .trim();
}

/** Texts without those that only differ from an earlier one by case. */
export function firstSpellings(texts: Iterable<string>): string[] {
  return [...Map.groupBy(texts, comparable).values()].map(([text = ""]) => text);
}
