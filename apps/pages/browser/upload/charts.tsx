import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { Item } from "./api.ts";
import { shownChoice } from "./field-names.ts";
import { shownDay, shownNumber } from "./shown.ts";

/** A part of a whole, or a bar beside others. */
interface Bar {
  readonly name: string;
  readonly count: number;
  /** Class that gives the colour. */
  readonly kind?: string;
}

function inWords(bars: readonly Bar[]): string {
  return bars.map(({ name, count }) => `${shownNumber(count)} ${name}`).join(", ");
}

/** Parts of a whole, in one bar and in numbers. @param total what the bar's length stands for */
export function Counts({ bars, total }: { readonly bars: readonly Bar[]; readonly total: number }) {
  const starts = bars.map((_, index) => bars.slice(0, index).reduce((sum, { count }) => sum + count, 0));
  return (
    <>
      <svg class="chart stacked" viewBox={`0 0 ${Math.max(1, total)} 1`} preserveAspectRatio="none" role="img">
        <title>{inWords(bars)}</title>
        {bars.map(({ name, count, kind }, index) => (
          <rect key={name} class={kind} x={starts[index]} y="0" width={count} height="1" />
        ))}
      </svg>
      <dl class="counts">
        {bars.map(({ kind, name, count }) => (
          <div key={name} class={count === 0 ? "zero" : kind}>
            <dt>{name}</dt>
            <dd>{shownNumber(count)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** A line that shows how a number changed, from left to right. @param title what the number is */
export function Line({ values, title }: { readonly values: readonly number[]; readonly title: string }) {
  if (values.length < 2) return null;
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => `${(index / (values.length - 1)) * 100},${20 - (value / most) * 19}`);
  return (
    <svg class="chart line" viewBox="0 0 100 20" preserveAspectRatio="none" role="img">
      <title>{title}</title>
      <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/** Numbers of things by day, a column for each day from the first to the last. */
function Days({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <svg class="chart days" viewBox={`0 0 ${bars.length} 1`} preserveAspectRatio="none" role="img">
        <title>{inWords(bars.filter(({ count }) => count > 0))}</title>
        {bars.map(({ name, count }, index) => (
          <rect key={name} x={index + 0.1} width="0.8" y={1 - count / most} height={count / most}>
            <title>{inWords([{ name, count }])}</title>
          </rect>
        ))}
      </svg>
      <p class="note ends">
        <span>{bars[0]?.name}</span>
        <span>{bars.length > 1 && bars.at(-1)?.name}</span>
      </p>
    </figure>
  );
}

const DAY_MS = 86_400_000;
/** More columns couldn't be told apart. */
const SHOWN_DAYS = 92;

/** The day of a moment in the browser's time zone, counted from 1970. */
function dayOf(time: string): number {
  const date = new Date(time);
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
}

/** How many of the loaded items have each status, and how many were completed on each of the last days. */
export function ItemsChart({ items }: { readonly items: readonly Item[] }) {
  const statuses = Map.groupBy(items, ({ status }) => status);
  const bars = WORK_ITEM_FIELDS.status.kind.choices.flatMap((status) => {
    const count = statuses.get(status)?.length ?? 0;
    return count > 0 ? [{ name: shownChoice(status), count, kind: status }] : [];
  });
  const completed = items.flatMap(({ completed_at: at }) => (at === null ? [] : [dayOf(at)]));
  const days = Map.groupBy(completed, (day) => day);
  const last = Math.max(...completed);
  const count = completed.length === 0 ? 0 : last - Math.min(...completed) + 1;
  const shown = Math.min(count, SHOWN_DAYS);
  const columns = Array.from({ length: shown }, (_, index) => {
    const day = last - (shown - 1 - index);
    return { name: shownDay(day * DAY_MS), count: days.get(day)?.length ?? 0 };
  });
  return (
    <div class="charts">
      <figure>
        <figcaption>By status</figcaption>
        <Counts bars={bars} total={items.length} />
      </figure>
      {columns.length > 1 && (
        <Days title={count > shown ? `Completed, the last ${shown} days` : "Completed by day"} bars={columns} />
      )}
    </div>
  );
}
