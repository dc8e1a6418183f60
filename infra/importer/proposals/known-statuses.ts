import type { WorkItem } from "work-items-client/client.ts";
import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import type { Source } from "../../../lib/uploads/mapping/mapping.ts";
import { plainWords } from "./plain-words.ts";

type Status = WorkItem["status"];

/**
 * What other systems call the statuses, as `plainWords` makes it, in English, German, French and Spanish, a line each. Words that
 * systems use for different things, such as "on hold" or "reopened", are missing: a person has to say what they mean. So are
 * those of waiting: Jira counts "Waiting for customer" and "Waiting for support" as in progress, and in ServiceNow
 * most incidents that await a user were active before, but help desks also use such words for work that nothing was done for yet.
 * "Wartend" and "en attente" are what help desks call "Pending" in German and French.
 */
const WORDS: Readonly<Record<Status, readonly string[]>> = {
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

const BY_WORD: ReadonlyMap<string, Status> = new Map(
  Object.entries(WORDS).flatMap(([status, lines]) =>
    lines
      .join(", ")
      .split(", ")
      .map((word) => [word, status as Status] as const),
  ),
);

/** What some systems put after each status: the pipeline that it is in. */
const PIPELINE = /\s*\([^()]*pipeline[^()]*\)\s*$/i;

function plain(word: string): string {
  return plainWords(word.replace(PIPELINE, ""));
}

/** The status that a word of another system means; undefined if it is not known. */
export function statusOf(word: string): Status | undefined {
  return BY_WORD.get(plain(word));
}

/** Words beside which work that is "Open" may be under way: what comes before it, what Zendesk calls its statuses. */
const BESIDE_OPEN: ReadonlySet<string> = new Set(
  "new, neu, nouveau, nouvelle, nuevo, nueva, pending, wartend, en attente, pendiente, solved".split(", "),
);
const OPEN: ReadonlySet<string> = new Set(["open", "opened", "offen", "ouvert", "ouverte", "abierto", "abierta"]);

/**
 * The statuses that the words of a column mean. "Open" is asked beside words of Zendesk, where an agent has such work; it is
 * any work that isn't done where nothing else comes before it.
 */
export function statusesIn(words: Iterable<string>): (word: string) => Status | undefined {
  const isDoubtful = [...words].some((word) => BESIDE_OPEN.has(plain(word)));
  return (word) => (isDoubtful && OPEN.has(plain(word)) ? undefined : statusOf(word));
}

/**
 * Aliases of the known words that are not spelled as the statuses are, one for all spellings that differ by case. An unknown
 * word gets none: a person chooses.
 */
export function aliasesOf(values: readonly string[]): Pick<Source, "values"> {
  const aliases = new Map<string, readonly [word: string, status: Status]>();
  const known = statusesIn(values);
  for (const value of values) {
    const word = value.trim();
    const status = known(word);
    if (status !== undefined && status !== word && !aliases.has(comparable(word))) {
      aliases.set(comparable(word), [word, status]);
    }
  }
  return aliases.size > 0 ? { values: Object.fromEntries(aliases.values()) } : {};
}
