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
