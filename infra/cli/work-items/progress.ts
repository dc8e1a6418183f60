import { Presets, SingleBar } from "cli-progress";

/** A bar with rate and time left on the standard error; nothing in a pipe. */
const startProgress = (label: string, unit: string) => {
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
    update: (done: number, total: number): void => {
      const seconds = (performance.now() - started) / 1000;
      bar.setTotal(total);
      bar.update(done, { rate: Math.round(done / Math.max(seconds, 0.1)) });
    },
    stop: () => bar.stop(),
  };
};

/** Shows the progress of work while it runs. @param unit what is counted, such as `rows` */
export const withProgress = async <T>(
  label: string,
  unit: string,
  work: (update: (done: number, total: number) => void) => Promise<T>,
): Promise<T> => {
  const { update, stop } = startProgress(label, unit);
  return work(update).finally(stop);
};
