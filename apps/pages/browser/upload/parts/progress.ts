import { countOf, shownNumber } from "./shown.ts";

/** How many rows were done at a moment, in milliseconds. */
export interface Moment {
  readonly at: number;
  readonly rows: number;
}

/** How long rows are counted for their rate. */
const RATE_MS = 30_000;

/** The moments that count for the rate, with a new one. */
export function withMoment(moments: readonly Moment[], now: Moment): Moment[] {
  return [...moments.filter(({ at }) => now.at - at < RATE_MS), now];
}

/** Rows a second between the first moment and the last; 0 if unknown. */
export function rateOf(moments: readonly Moment[]): number {
  const [first] = moments;
  const last = moments.at(-1);
  return first && last && last.at > first.at ? ((last.rows - first.rows) / (last.at - first.at)) * 1000 : 0;
}

/** A duration as people say it. */
export function shownDuration(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** How far a job is, with rate and time left if known. @param total 0 if unknown */
export function shownProgress(done: number, total: number, rate: number): string {
  const unknown = done > 0 ? `${countOf(done, "row")} so far` : "Counting rows…";
  return [
    total > 0 ? `${shownNumber(done)} of ${countOf(total, "row")}` : unknown,
    ...(rate > 0 ? [`${shownNumber(Math.round(rate))} a second`] : []),
    ...(rate > 0 && total > 0 ? [`${shownDuration((total - done) / rate)} left`] : []),
  ].join(", ");
}
