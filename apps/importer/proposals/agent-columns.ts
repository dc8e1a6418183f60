import { WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import { looksOf } from "../ids/look-alikes.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type AgentName, agentOfName, firstSpellings, plainWords } from "./known-headers.ts";
import type { FileColumn, SurveyedColumn } from "./survey.ts";

/** Texts for items without an agent, in English, German, French and Spanish, in the spelling of `plainWords`. */
const UNASSIGNED = new Set(
  (
    "no agent, no owner, no assignee, unassigned, not assigned, " +
    "nicht zugewiesen, kein agent, kein bearbeiter, " +
    "non assigne, non attribue, non affecte, aucun agent, aucun, " +
    "sin asignar, no asignado, sin agente, ninguno"
  ).split(", "),
);

/** The texts of a column that mean that an item has no agent, each in one spelling. */
export function unassignedIn({ words }: SurveyedColumn): string[] {
  return firstSpellings([...(words?.keys() ?? [])].filter((text) => UNASSIGNED.has(plainWords(text))));
}

const FLAG = /^(?:true|false|yes|no|ja|nein|oui|non|si|sí|[01yn])$/i;
const NAME_AND_EMAIL = /^(.*\S)\s*[(<]\s*([^\s@()<>]+@[^\s@()<>]+)\s*[)>]$/;
/** Limit of the people who are listed in a mapping, whose size is limited. */
const LISTED_PEOPLE = 200;

/** Whether most values pass, as some rows may be wrong. */
export function isMost(count: number, values: readonly string[]): boolean {
  return count > 0 && count >= values.length / 2;
}

export function areEmails(values: readonly string[]): boolean {
  return isMost(values.filter((value) => /^[^\s@]+@[^\s@]+$/.test(value.trim())).length, values);
}

/** Several people in one value: "Ann Lee; Bob Stone". A comma may also separate a last name from a first name. */
const SEVERAL = /\S\s*[;|\n]\s*\S|\S\s[&/+]\s\S|\S \S+, \S+ \S/;

/** Two texts that look the same: written with other characters, or with white space that differs. */
function lookAlikeIn(texts: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return texts.find((text) => {
    const looks = looksOf(text);
    return seen.size === seen.add(looks).size;
  });
}

/** A list as a program writes it: "[Ann Lee]", "['Ann Lee']". */
const LIST = /^(?:\[.*\]|\{.*\})$/s;
const LIST_OF_ONE = /^\[\s*(["']?)([^[\]{},;|\n]+?)\1\s*\]$/;

const EMAIL = WORK_ITEM_FIELDS.agent_email.kind.input();

/** The only person in a list; undefined for other texts. */
export function personInBrackets(text: string): string | undefined {
  return LIST_OF_ONE.exec(text)?.[2]?.trim();
}

/** Aliases by which people in brackets are themselves, if the field accepts them. */
export function withoutBrackets(target: string, { words }: SurveyedColumn): Readonly<Record<string, string>> {
  const people = firstSpellings(words?.keys() ?? []).flatMap((text) => {
    const person = personInBrackets(text);
    const isAccepted = target !== "agent_email" || EMAIL.safeParse(person).success;
    return person === undefined || !isAccepted ? [] : [[text, person] as const];
  });
  return people.length > LISTED_PEOPLE ? {} : Object.fromEntries(people);
}

/** What speaks against the people in a column, each in one text. */
export function doubtsOfPeople(target: string, people: readonly string[]): string[] {
  const several = people.find((text) => SEVERAL.test(text));
  if (several !== undefined) return [`values such as "${several}" name several people`];
  const list = people.find((text) => LIST.test(text));
  if (list !== undefined) {
    const isOfSeveral = /[,;|&\n]/.test(list);
    return [
      `values such as "${list}" ${isOfSeveral ? "name several people" : "are in brackets, which would be part of the name"}`,
    ];
  }
  const alike = lookAlikeIn(people);
  if (alike !== undefined) return [`"${alike}" occurs twice, written with other characters or spaces`];
  const other = target === "agent_email" ? people.find((text) => !EMAIL.safeParse(text.trim()).success) : undefined;
  return other === undefined ? [] : [`values such as "${other}" aren't email addresses that the service accepts`];
}

/** The target of a column that is named only after a person, by its values; undefined for flags and numbers. */
export function targetOfPerson({ values }: Pick<FileColumn, "values">): string | undefined {
  const texts = values.map((value) => value.trim());
  const others = texts.filter((text) => FLAG.test(text) || /^-?\d+[.,]\d+%?$|%$/.test(text));
  if (isMost(others.length, texts)) return undefined;
  if (areEmails(texts)) return "agent_email";
  const ids = texts.filter((text) =>
    /^(?:\d+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|00[5G][\dA-Za-z]{12,15})$/i.test(text),
  );
  return isMost(ids.length, texts) ? "agent_external_id" : "agent_name";
}

/** A field of the agent, and its source. */
interface AgentField {
  readonly target: string;
  readonly columns: readonly FileColumn[];
  readonly source: Source;
  readonly isCertain: boolean;
  readonly reason: string;
}

/** "Ann Lee (ann@example.com)" as name and email. The mapping lists each text, because a source can't split one. */
function nameAndEmail(column: FileColumn): AgentField[] {
  const { words } = column.survey;
  const people = firstSpellings(words?.keys() ?? []);
  const split = people.flatMap((text) => {
    const [, name, email] = NAME_AND_EMAIL.exec(text) ?? [];
    return name === undefined || email === undefined ? [] : [{ text, name, email }];
  });
  if (!isMost(split.length, people) || split.length > LISTED_PEOPLE) return [];
  const valuesOf = (key: "name" | "email") => Object.fromEntries(split.map((each) => [each.text, each[key]]));
  const reason = "by name and values: “Name (email)”";
  const source = { column: column.name, values: valuesOf("name") };
  const emails = { column: column.name, values: valuesOf("email"), otherwise: "" };
  return [
    { target: "agent_name", columns: [column], source, isCertain: true, reason },
    { target: "agent_email", columns: [column], source: emails, isCertain: true, reason },
  ];
}

/**
 * The fields of the agent that the columns hold. Only columns of one role are used. Rivals are about people of other roles, one of
 * whom may be the agent.
 * @param chosen the column about the agent, if a person chose one
 */
export function agentFields(columns: readonly FileColumn[], chosen?: FileColumn) {
  const named = columns.flatMap((column) => {
    const agent = agentOfName(column.words);
    const target = agent && (agent.target ?? targetOfPerson(column));
    return agent && target !== undefined ? [{ column, agent, target }] : [];
  });
  const ofChosen = named.find(({ column }) => column === chosen)?.agent;
  if (chosen !== undefined && ofChosen === undefined) {
    const target = targetOfPerson(chosen) ?? "agent_name";
    const field: AgentField = {
      target,
      columns: [chosen],
      source: { column: chosen.name },
      isCertain: true,
      reason: "",
    };
    return { fields: [field], rivals: [] };
  }
  const best =
    ofChosen ??
    named.reduce<AgentName | undefined>(
      (most, { agent }) => (most === undefined || agent.rank < most.rank ? agent : most),
      undefined,
    );
  const isOfBest = ({ agent }: (typeof named)[number]): boolean => agent.role === best?.role;
  // "Agent's email" beside "Assigned agent", unless "Agent" is another person.
  const isDetail = ({ agent: { role, target } }: (typeof named)[number]): boolean =>
    (target === "agent_email" || target === "agent_external_id") &&
    best?.role.split(" ").includes(role) === true &&
    !named.some((each) => each.agent.role === role && each.target === "agent_name") &&
    !named.some((each) => isOfBest(each) && each.target === target);
  const own = named.filter((each) => isOfBest(each) || isDetail(each));
  const isPart = (target: string): boolean => target === "first_name" || target === "last_name";
  const rivals = named
    .filter((each) => !own.includes(each))
    .map(({ column, target }) => ({ column, target: isPart(target) ? "agent_name" : target }));
  const fields = own.flatMap(({ column, target }): AgentField[] => {
    if (isPart(target)) return [];
    const split = target === "agent_name" ? nameAndEmail(column) : [];
    const whole = { target, columns: [column], source: { column: column.name }, isCertain: true, reason: "by name" };
    return split.length > 0 ? split : [whole];
  });
  const partOf = (part: string) => own.find(({ target }) => target === part)?.column;
  const parts = [partOf("first_name"), partOf("last_name")].filter((column) => column !== undefined);
  if (parts.length === 0 || fields.some(({ target }) => target === "agent_name")) return { fields, rivals };
  const isJoined = parts.length === 2;
  const source = isJoined ? { columns: parts.map(({ name }) => name) } : { column: parts[0]!.name };
  const reason = isJoined ? "by name, joined with the other name" : "by name, but it may be part of a name";
  const joined: AgentField = { target: "agent_name", columns: parts, source, isCertain: isJoined, reason };
  return { fields: [...fields, joined], rivals };
}
