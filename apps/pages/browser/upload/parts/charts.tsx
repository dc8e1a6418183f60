import { Facts } from "./parts.tsx";
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

/** Parts of a whole in numbers, without those of zero, and if there are several, in one bar. @param total length of the bar; without it there is none */
export function Counts({ bars: all, total }: { readonly bars: readonly Bar[]; readonly total: number | undefined }) {
  const bars = all.filter(({ count }) => count > 0);
  if (bars.length === 0) return null;
  const starts = bars.map((_, index) => bars.slice(0, index).reduce((sum, { count }) => sum + count, 0));
  return (
    <>
      {total !== undefined && bars.length > 1 && (
        <svg class="chart stacked" viewBox={`0 0 ${Math.max(1, total)} 1`} preserveAspectRatio="none" role="img">
          <title>{inWords(bars)}</title>
          {bars.map(({ name, count, kind }, index) => (
            <rect key={name} class={kind} x={starts[index]} y="0" width={count} height="1" />
          ))}
        </svg>
      )}
      <Facts kind="counts" facts={bars.map(({ kind, name, count }) => [name, shownNumber(count), kind])} />
    </>
  );
}
