import type { WorkItem } from "work-items-client/client.ts";
import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import { fieldOf, ITEM_FIELD_NAMES, itemTarget } from "../../../lib/uploads/csv/target.ts";
import type { Source } from "../../../lib/uploads/mapping/mapping.ts";
import { plainWords } from "./known-headers.ts";

/**
 * What other systems call the statuses, as `plainWords` makes it, in English, German, French and Spanish, a line each. Words that
 * systems use for different things, such as "on hold" or "reopened", are missing: a person has to say what they mean. So are
 * those of waiting: Jira counts "Waiting for customer" and "Waiting for support" as in progress, and in ServiceNow
 * most incidents that await a user were active before, but help desks also use such words for work that nothing was done for yet.
 * "Wartend" and "en attente" are what help desks call "Pending" in German and French.
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

/** What other systems call the choices of a field. The choices themselves are known without. */
interface KnownWords {
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** Words that are asked where one of others is in the same column. */
  readonly asked: ReadonlySet<string>;
  readonly beside: ReadonlySet<string>;
}

const KNOWN: Readonly<Record<string, KnownWords>> = {
  status: {
    words: STATUSES,
    // "Open" is any work that isn't done where nothing else comes before it. In Zendesk an agent has such work.
    asked: new Set(["open", "opened", "offen", "ouvert", "ouverte", "abierto", "abierta"]),
    beside: new Set(
      "new, neu, nouveau, nouvelle, nuevo, nueva, pending, wartend, en attente, pendiente, solved".split(", "),
    ),
  },
};

/** The choices of a target; undefined if it isn't a field with choices. */
export function choicesOf(target: string): readonly string[] | undefined {
  const field = itemTarget(target);
  return field && fieldOf(field)?.kind.choices;
}

function meaningsOf(target: string): ReadonlyMap<string, string> {
  const others = Object.entries(KNOWN[target]?.words ?? {}).flatMap(([choice, lines]) =>
    lines
      .join(", ")
      .split(", ")
      .map((word) => [word, choice] as const),
  );
  return new Map([...others, ...(choicesOf(target) ?? []).map((choice) => [plainWords(choice), choice] as const)]);
}

/** The fields with choices. */
export const CHOICE_FIELDS = ITEM_FIELD_NAMES.filter(choicesOf);
const MEANINGS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  CHOICE_FIELDS.map((target) => [target, meaningsOf(target)]),
);

/** What some systems put after each status: the pipeline that it is in. */
const PIPELINE = /\s*\([^()]*pipeline[^()]*\)\s*$/i;

function plain(word: string): string {
  return plainWords(word.replace(PIPELINE, ""));
}

/** The choices of a field that words mean. @param words those of its column, beside which some aren't clear */
export function meaningsIn(target: string, words: Iterable<string>): (word: string) => string | undefined {
  const { asked, beside } = KNOWN[target] ?? {};
  const isDoubtful = [...words].some((word) => beside?.has(plain(word)));
  return (word) => (isDoubtful && asked?.has(plain(word)) ? undefined : MEANINGS.get(target)?.get(plain(word)));
}

/** The words of a column that mean no choice of a field, as far as is known. A person has to say what they mean. */
export function unknownIn(target: string, words: readonly string[]): string[] {
  const meaningOf = meaningsIn(target, words);
  return words.filter((word) => meaningOf(word) === undefined);
}

/**
 * Aliases of the known words that are not spelled as the choices are, one for all spellings that differ by case. An unknown
 * word gets none: a person chooses.
 */
export function aliasesOf(target: string, values: readonly string[]): Pick<Source, "values"> {
  const aliases = new Map<string, readonly [word: string, choice: string]>();
  const meaningOf = meaningsIn(target, values);
  for (const value of values) {
    const word = value.trim();
    const choice = meaningOf(word);
    if (choice !== undefined && choice !== word && !aliases.has(comparable(word))) {
      aliases.set(comparable(word), [word, choice]);
    }
  }
  return aliases.size > 0 ? { values: Object.fromEntries(aliases.values()) } : {};
}
