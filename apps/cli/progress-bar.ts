import { Presets, SingleBar } from "cli-progress";
import type { Terminal } from "@work-items/terminal/terminal.ts";

/** Updates a progress bar. @param values what its format names */
export type Update = (done: number, total: number, values?: object) => void;

/** Shows a progress bar on standard error while work runs. @param values the initial values that the format names */
export async function withBar<T>(
  { stderr }: Terminal,
  format: string,
  values: object,
  work: (update: Update) => Promise<T>,
): Promise<T> {
  const bar = new SingleBar({ format, stream: stderr, hideCursor: true, etaBuffer: 100 }, Presets.legacy);
  bar.start(0, 0, values);
  const update: Update = (done, total, now = {}) => {
    bar.setTotal(total);
    bar.update(done, now);
  };
  return work(update).finally(() => bar.stop());
}

/** Shows the rate and the remaining time of work. @param unit what is counted, such as `rows` */
export async function withProgress<T>(
  terminal: Terminal,
  label: string,
  unit: string,
  work: (update: Update) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const format = `${label} [{bar}] {value}/{total} ${unit}, {rate} a second, {eta_formatted} left`;
  return withBar(terminal, format, { rate: 0 }, (update) =>
    work((done, total) => {
      const seconds = (performance.now() - started) / 1000;
      update(done, total, { rate: Math.round(done / Math.max(seconds, 0.1)) });
    }),
  );
}
