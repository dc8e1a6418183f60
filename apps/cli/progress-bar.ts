import { Presets, SingleBar } from "cli-progress";
import type { Terminal } from "../../infra/terminal.ts";

/** Shows how far work is. @param values what the bar's format names */
export type Update = (done: number, total: number, values?: object) => void;

/** Shows a bar on the standard error of a terminal while work runs. @param values what the format names at first */
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

/** Shows rate and time left of work. @param unit what is counted, such as `rows` */
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
