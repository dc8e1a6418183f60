import { shownNumber } from "./shown.ts";

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
  if (values.length < 2 || values.every((value) => value === 0)) return null;
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => `${(index / (values.length - 1)) * 100},${20 - (value / most) * 19}`);
  return (
    <svg class="chart line" viewBox="0 0 100 20" preserveAspectRatio="none" role="img">
      <title>{title}</title>
      <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
