/** A part of a whole, or a bar beside others. */
export interface Bar {
  readonly name: string;
  readonly count: number;
  /** Class that gives the colour. */
  readonly kind?: string;
}

function said(bars: readonly Bar[]): string {
  return bars.map(({ name, count }) => `${name}: ${count.toLocaleString()}`).join(", ");
}

/** Parts of a whole in one bar. @param total what the bar's length stands for */
export function StackedBar({ bars, total }: { readonly bars: readonly Bar[]; readonly total: number }) {
  const starts = bars.map((_, index) => bars.slice(0, index).reduce((sum, { count }) => sum + count, 0));
  return (
    <svg class="chart stacked" viewBox={`0 0 ${Math.max(1, total)} 1`} preserveAspectRatio="none" role="img">
      <title>{said(bars)}</title>
      {bars.map(({ name, count, kind }, index) => (
        <rect key={name} class={kind} x={starts[index]} y="0" width={count} height="1" />
      ))}
    </svg>
  );
}

/** How a number changed, as a line from left to right. @param title what it is */
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

/** Numbers of things by their names, each a bar. */
export function Bars({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <figure class="bars">
      <figcaption>{title}</figcaption>
      <dl>
        {bars.map(({ name, count, kind }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <svg class="chart" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect class={kind} width={(count / most) * 100} height="1" />
              </svg>
              {count.toLocaleString()}
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

/** Numbers of things by day, a column for each day from the first to the last. */
export function Days({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <figure class="bars">
      <figcaption>{title}</figcaption>
      <svg class="chart days" viewBox={`0 0 ${bars.length} 1`} preserveAspectRatio="none" role="img">
        <title>{said(bars.filter(({ count }) => count > 0))}</title>
        {bars.map(({ name, count }, index) => (
          <rect key={name} x={index + 0.1} width="0.8" y={1 - count / most} height={count / most}>
            <title>{said([{ name, count }])}</title>
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
