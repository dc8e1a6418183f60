import type { WorkItem } from "work-items-client/client.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { fieldOf, ITEM_FIELD_NAMES, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { firstSpellings, plainWords } from "./known-headers.ts";

/**
 * What other systems call the statuses, in English, German, French and Spanish, a line each, in the spelling of
 * `plainWords`. Words with different meanings, such as "on hold" or "reopened", are missing: a person decides. So are
 * words for waiting: for Jira, "Waiting for customer" is in progress, but some help desks use such words for work that
 * hasn't started. "Wartend" and "en attente" are how help desks say "Pending" in German and French.
 */
const STATUSES: Readonly<Record<WorkItem["status"], readonly string[]>> = {
  pending: [
    "pending, open, opened, new, to do, todo, backlog, not started, queued, unassigned, submitted" +
      ", selected for development",
    "offen, neu, ausstehend, wartend, zu erledigen, nicht begonnen",
    "ouvert, ouverte, nouveau, nouvelle, a faire, en attente, non commence",
    "abierto, abierta, nuevo, nueva, pendiente, por hacer, tareas por hacer, sin empezar",
  ],
  in_progress: [
    "in progress, work in progress, wip, doing, in work, started, in process, in review, working, active" +
      ", processing, processing assigned, processing planned",
    "in bearbeitung, in arbeit, begonnen, laufend, wird ausgefuhrt" +
      ", in bearbeitung zugewiesen, in bearbeitung geplant, in bearbeitung mit zeitplan",
    "en cours, en cours de traitement, en traitement, commence, en cours attribue, en cours planifie",
    "en curso, en progreso, en proceso, en tramite, empezado, en curso asignado, en curso planificado",
  ],
  completed: [
    "completed, complete, closed, done, resolved, solved, finished, fixed",
    "erledigt, geschlossen, abgeschlossen, gelost, fertig, beendet",
    "ferme, fermee, clos, close, resolu, resolue, resolu e, termine, terminee, termine e, cloture, cloturee, acheve",
    "cerrado, cerrada, resuelto, resuelta, completado, completada, terminado, finalizado, finalizada, hecho, listo, lista",
  ],
  cancelled: [
    "cancelled, canceled, rejected, declined, withdrawn, wont do, won t do, abandoned",
    "abgebrochen, storniert, abgelehnt, verworfen",
    "annule, annulee, rejete, refuse, abandonne",
    "cancelado, cancelada, anulado, anulada, rechazado, rechazada",
  ],
};

/** Words whose meaning a person has to choose if the column also has one of `BESIDE`. */
const ASKED = new Set("open, opened, offen, ouvert, ouverte, abierto, abierta".split(", "));
/** "Open" means pending, unless there is a word for an earlier status: in Zendesk, an agent works on open tickets. */
const BESIDE = new Set(
  "new, neu, nouveau, nouvelle, nuevo, nueva, pending, wartend, en attente, pendiente, solved".split(", "),
);

/** The choices of a target; undefined if it isn't a field with choices. */
export function choicesOf(target: string): readonly string[] | undefined {
  const field = itemTarget(target);
  return field && fieldOf(field)?.kind.choices;
}

function meaningsOf(target: string): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>();
  for (const [choice, lines] of Object.entries(target === "status" ? STATUSES : {})) {
    for (const word of lines.join(", ").split(", ")) meanings.set(word, choice);
  }
  for (const choice of choicesOf(target) ?? []) meanings.set(plainWords(choice), choice);
  return meanings;
}

export const CHOICE_FIELDS = ITEM_FIELD_NAMES.filter(choicesOf);
const MEANINGS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  CHOICE_FIELDS.map((target) => [target, meaningsOf(target)]),
);

/** The pipeline that some systems put after each status. */
const PIPELINE = /\s*\([^()]*pipeline[^()]*\)\s*$/i;

function plain(word: string): string {
  return plainWords(word.replace(PIPELINE, ""));
}

/** Makes the function that finds the choice a word means. @param words its column's, which may make it ambiguous */
export function meaningsIn(target: string, words: Iterable<string>): (word: string) => string | undefined {
  const isDoubtful = target === "status" && [...words].some((word) => BESIDE.has(plain(word)));
  return (word) => (isDoubtful && ASKED.has(plain(word)) ? undefined : MEANINGS.get(target)?.get(plain(word)));
}

/** Words by which others mean the opposite, or only a part or what is yet to come. "t" is the end of "isn't". */
const TURNED =
  /\b(?:not?|non|un|re|never|t|be|ready|almost|part(?:ly|ially)|nicht|nie|keine?|ohne|sans|fast|teilweise|ne|pas|jamais|sin|nunca|casi)\b/;

/** Makes the function that suggests the choice of a text with a known word, such as "Problem solved". A person has to confirm it. */
export function suggestionsIn(target: string, words: Iterable<string>): (text: string) => string | undefined {
  const meaningOf = meaningsIn(target, words);
  const known = [...(MEANINGS.get(target)?.keys() ?? [])];
  return (text) => {
    const spaced = ` ${plain(text)} `;
    // In most systems, work has begun before it waits. In some it hasn't, so that a person confirms it.
    if (target === "status" && /\b(?:on hold|a?wait(?:ing)?|escalated|wartet)\b/.test(spaced)) return "in_progress";
    const [meaning, ...others] = new Set(known.filter((word) => spaced.includes(` ${word} `)).map(meaningOf));
    return others.length > 0 || TURNED.test(spaced) ? undefined : meaning;
  };
}

/** The words of a column whose meaning isn't known: a person has to choose. */
export function unknownIn(target: string, words: readonly string[]): string[] {
  const meaningOf = meaningsIn(target, words);
  return words.filter((word) => meaningOf(word) === undefined);
}

/** The words of a column whose meaning neither a source nor this list knows. */
export function unansweredWords(target: string, source: Source, words: readonly string[]): string[] {
  const answered = new Set(Object.keys(source.values ?? {}).map(comparable));
  if (source.otherwise !== undefined) return [];
  return unknownIn(target, words).filter((word) => !answered.has(comparable(word)));
}

/**
 * Aliases of the known words that aren't spelled like their choices, one for spellings that only differ by case.
 * Unknown words get none: a person chooses.
 */
export function aliasesOf(target: string, values: readonly string[]): Pick<Source, "values"> {
  const meaningOf = meaningsIn(target, values);
  const known = values.map((value) => value.trim()).filter((word) => ![undefined, word].includes(meaningOf(word)));
  const aliases = firstSpellings(known).map((word) => [word, meaningOf(word)!] as const);
  return aliases.length > 0 ? { values: Object.fromEntries(aliases) } : {};
}
