import { Presets, SingleBar } from "cli-progress";

/** A bar with rate and time left on a terminal; nothing in a pipe. */
export interface Progress {
  readonly update: (done: number, total: number) => void;
  readonly stop: () => void;
}

/** Starts a progress bar on the standard error. @param unit what is counted, such as `rows` */
export const startProgress = (label: string, unit: string): Progress => {
  if (!process.stderr.isTTY) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar(
    {
      format: `${label} [{bar}] {value}/{total} ${unit}, {rate} a second, {eta_formatted} left`,
      hideCursor: true,
      etaBuffer: 100,
      stream: process.stderr,
    },
    Presets.legacy,
  );
  const started = performance.now();
  bar.start(0, 0, { rate: 0 });
  return {
    update: (done, total) => {
      const seconds = (performance.now() - started) / 1000;
      bar.setTotal(total);
      bar.update(done, { rate: Math.round(done / Math.max(seconds, 0.1)) });
    },
    stop: () => bar.stop(),
  };
};
