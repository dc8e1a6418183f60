import { KEPT_SECONDS } from "../../../infra/limits.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { keptUntil } from "@work-items/lib/uploads/job/kept-until.ts";
import { type Kept, tablesOfData } from "../data/kinds-of-data.ts";
import type { Variables } from "./target-tables.ts";

/** How long point-in-time recovery keeps changes. */
const RECOVERY_DAYS = 35;
/** How long X-Ray keeps traces. */
const TRACE_DAYS = 30;
/** Plans expire after a day; DynamoDB deletes expired records within a few days. */
const PLAN_DAYS = 3;
const DAY_MS = 86_400_000;

/** What holds erased data, or traces of it, for some time. */
interface Remaining extends Kept {
  readonly until: string;
}

/** @param days undefined if the service isn't deployed, or doesn't say @param setting what decides it then */
function after(finished: number, days: number | string | undefined, setting = ""): string {
  return days === undefined ? `the setting ${setting}` : isoTime(finished + Number(days) * DAY_MS);
}

/** @param finished milliseconds since the epoch @param variables with the deployed stack's settings of backups and logs */
function backups(finished: number, { BACKUP_VAULT: vault, BACKUP_DAYS: days }: Variables): readonly Remaining[] {
  const recovery = "a restored table has it until organizations reapply-erasures has run on it";
  return [
    {
      what: `continuous backups of the tables (point-in-time recovery); ${recovery}`,
      until: after(finished, RECOVERY_DAYS),
    },
    ...(vault === undefined
      ? []
      : [
          {
            what: `recovery points in the backup vault of the stack, and their copies in ${vault}; ${recovery}`,
            until: after(finished, days, "backup"),
          },
        ]),
    {
      what: "backups, exports and restored tables that were made by hand",
      until: "they are deleted by hand",
      by_hand: true,
    },
    ...Object.values(tablesOfData)
      .flatMap(({ kept = [] }) => kept)
      .map((each) => ({ ...each, until: "it is kept" })),
  ];
}

/** What holds data of an erased organization for some time. */
export function remainsOfOrganization(finished: number, variables: Variables): readonly Remaining[] {
  const logs = after(finished, variables["LOG_DAYS"], "logDays");
  return [
    ...backups(finished, variables),
    { what: "upload parts that were never completed in S3", until: after(finished, 1) },
    {
      what: "messages in queues and dead letters: ids",
      without_content: true,
      until: isoTime(finished + KEPT_SECONDS * 1000),
    },
    { what: "traces: ids, routes and times", without_content: true, until: after(finished, TRACE_DAYS) },
    {
      what: "logs: ids of the organization, its keys and its work items, routes and sizes",
      without_content: true,
      until: logs,
    },
    {
      what: "access logs, and those of the firewall: addresses of callers, routes and times",
      without_content: true,
      until: logs,
    },
  ];
}

/**
 * What may hold data of an item or a person for some time.
 * @param files until when uploads and their undos keep it, ISO 8601. @default the latest for uploads that have ended by then
 */
export function remainsOfContent(
  finished: number,
  variables: Variables,
  files: readonly string[] = [isoTime(keptUntil(finished))],
): readonly Remaining[] {
  const last = files.toSorted().at(-1);
  return [
    ...backups(finished, variables),
    ...(last === undefined
      ? []
      : [{ what: "files, chunks and lists of uploads that held it, and lists of their undos", until: last }]),
    { what: "plans of dry runs of uploads that held it", until: after(finished, PLAN_DAYS) },
    {
      what: "logs: the item's id",
      until: after(finished, variables["LOG_DAYS"], "logDays"),
      without_content: true,
    },
  ];
}

/** When the service no longer holds what was erased, ISO 8601; null if that depends on an unknown setting. */
export function goneBy(remains: readonly Remaining[]): string | null {
  const ends = remains.filter((each) => !each.without_content && !each.by_hand).map(({ until }) => until);
  return ends.some((until) => Number.isNaN(Date.parse(until))) ? null : (ends.toSorted().at(-1) ?? null);
}

/** The lines of a receipt that say what remains. */
export function remainsInWords(remains: readonly Remaining[]): string[] {
  const last = goneBy(remains);
  return [
    "what remains:",
    ...remains.map((each) => `  ${each.what}${each.without_content ? ", no content" : ""}: until ${each.until}`),
    ...(last === null ? [] : [`after ${last} only what people made or wrote by hand may still hold it`]),
  ];
}
