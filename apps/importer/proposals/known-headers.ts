import { distance } from "fastest-levenshtein";

/** What other systems call the thing that is worked on; many names begin with it. */
const ITEM = String.raw`(?:ticket|case|issue|incident|conversation|request|work item|work order|item|task|record|vorgangs?|kundenvorgangs?|anfrage|fall|demande|requete|incidencia|solicitud|caso)`;
/** What stands between a property and the item that has it. */
const OF = "(?:du|de|del|de la|de l|des|der|d)";
const ITEM_OF = String.raw`(?:${ITEM} )?`;

/** A rule about the names of columns, as `plainWords` makes them. */
interface HeaderRule {
  readonly target: string;
  readonly name: RegExp;
  /** Whether the name alone leaves no doubt. */
  readonly isCertain: boolean;
}

function rule(target: string, name: string, isCertain = true): HeaderRule {
  return { target, name: new RegExp(`^(?:${name})$`), isCertain };
}

/**
 * The ends of an item, as adjectives and as nouns, in the order in which they are taken where a file has several: whoever
 * closes a ticket has solved it before.
 */
const ENDS = [
  ["closed", "close|closing|closure"],
  ["solved", "solution"],
  ["resolved", "resolution"],
  ["completed", "completion"],
  ["finished|done", "finish"],
] as const;

/** What a column of a date is called in German, French and Spanish. */
const WHEN = "(?:date|heure|date heure|date et heure|fecha|hora|fecha hora|fecha y hora|datum|zeit|datum uhrzeit)";

/** Rules about everything but agents, the most telling first. */
const RULES: readonly HeaderRule[] = [
  rule("external_id", "external id"),
  rule("external_id", `${ITEM} ?(?:key|number|nummer|nr|no|numero|schlussel)`),
  rule("external_id", `${ITEM}s? ?id|(?:id|numero|cle|clave|reference) ${OF} ?${ITEM}`),
  rule("external_id", "number|id|key|nr|no|numero|nummer|reference|ref", false),
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

/** Correct spellings of names that are recognized with a slip. */
const SPELLINGS: readonly (readonly [name: string, target: string])[] = [
  ["external id", "external_id"],
  ["ticket id", "external_id"],
  ["ticket number", "external_id"],
  ["case number", "external_id"],
  ["issue key", "external_id"],
  ["agent email", "agent_email"],
  ["assignee email", "agent_email"],
  ["agent name", "agent_name"],
  ["assignee", "agent_name"],
  ["assigned to", "agent_name"],
  ["ticket status", "status"],
  ["status", "status"],
  ["completed at", "completed_at"],
  ["resolved at", "completed_at"],
  ["short description", "custom_attributes.short_description"],
  ["description", "custom_attributes.description"],
];

/** A target that a column is likely named after. */
interface NamedTarget {
  readonly target: string;
  readonly isCertain: boolean;
  /** Place among all rules: a lower one is more telling. */
  readonly rank: number;
}

/** The target of a column by its name, agents excepted; undefined if none is known. */
export function targetOfName(name: string): NamedTarget | undefined {
  const rank = RULES.findIndex((each) => each.name.test(name));
  const found = RULES[rank];
  return found && { target: found.target, isCertain: found.isCertain, rank };
}

/** Whether two names differ by a slip only: a letter in five. */
function isClose(name: string, other: string): boolean {
  return Math.abs(name.length - other.length) < 3 && distance(name, other) <= Math.min(name.length, other.length) / 5;
}

/** The target of a column whose name has a slip; undefined if none is known. */
export function targetOfSlip(name: string): string | undefined {
  const target = isCustomer(name) ? undefined : SPELLINGS.find(([known]) => isClose(name, known))?.[1];
  // A column that is named after an agent holds something else; a time is no slip of a person.
  const isOther = agentOfName(name) !== undefined || /\b(?:at|on|date|time)$/.test(name);
  return target?.startsWith("agent_") && isOther ? undefined : target;
}

/**
 * People who do the work, the most telling first. Fields of two of them are never mixed: the email of the one who closed
 * a ticket does not belong to the name of its assignee.
 */
const ROLES = [
  "assignee|assigned to(?: technician)?|assigned agent|assigned user|assigned teammate|(?:agent|teammate|admin) (?:currently )?assigned|teammate assigned" +
    "|zugewiesen (?:an|zu)(?: techniker)?|zugewiesene(?:r|s)? (?:person|mitarbeiter|agent|benutzer)" +
    "|(?:personne )?assignee?(?: a)?|(?:attribue|affecte) a(?: technicien)?|agent assigne" +
    "|asignado a(?: tecnico)?|agente asignado|persona asignada",
  `owner|(?:ticket|fall|kundenvorgangs?) ?(?:inhaber|zustandiger)|inhaber(?: des ${ITEM})?|propriet?aire(?: ${OF} ?${ITEM})?|propietario(?: ${OF} ?${ITEM})?`,
  "agent|handler|resolver|advis[oe]r|representative|rep|teammate|technician|bearbeiter(?:in)?|sachbearbeiter(?:in)?|zustandige(?:r|person)?|mitarbeiter(?:in)?|techniker(?:in)?|technicien(?:ne)?|responsable|agente|tecnico|conseiller|bearbeitet von",
  "(?:handled|resolved|solved|closed|completed|answered) by",
];
/** What a column says about a person, after the role. */
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
  /** Place in `ROLES`. */
  readonly rank: number;
  /** What the person is called. */
  readonly role: string;
  /** The field that the name shows, or `first_name` or `last_name`; undefined if only the cells show it. */
  readonly target: string | undefined;
}

/** What a column says about an agent by its name; undefined if it is about someone or something else. */
export function agentOfName(name: string): AgentName | undefined {
  const text = name.replace(OF_ROLE, "$2 $1");
  for (const [rank, pattern] of AGENTS.entries()) {
    const { role, ...details } = pattern.exec(text)?.groups ?? {};
    if (role === undefined) continue;
    return { rank, role, target: Object.keys(details).find((target) => details[target] !== undefined) };
  }
  return undefined;
}

/** The field of an agent that a column without a role, such as `Email`, may hold; undefined if it can't hold one. */
export function agentOfBareName(name: string): string | undefined {
  if (/^(?:user )?(?:email|mail)(?: address| adresse)?$/.test(name)) return "agent_email";
  return name === "user id" ? "agent_external_id" : undefined;
}

const CUSTOMER = new RegExp(
  String.raw`\b(?:customers?|clients?|requesters?|requestor|reporter|contacts?|callers?|from|sender|submitter|consumer|buyer|guest|visitor|lead|account|company|organi[sz]ation|kund(?:e|en|in)|melder|absender|anfrager|anfragender|anforderer|antragsteller|anrufer|demandeur|appelant|rapporteur|solicitante|informador|remitente)\b`,
);

/** Whether a name is about the person who asks, never about the one who does the work. */
export function isCustomer(name: string): boolean {
  return CUSTOMER.test(name) && agentOfName(name) === undefined;
}

/**
 * A header or a status as it is compared with known words: in lower case, without accents, with single spaces between
 * words. `Assignee E-Mail`, `assignee_email` and `assigneeEmail` are the same, and so are `Ticket #` and `ticket number`.
 */
export function plainWords(text: string): string {
  return text
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
