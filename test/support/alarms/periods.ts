import type { createWatchedService } from "./watched-service.ts";

/** A service whose alarms are watched. */
export type Service = Awaited<ReturnType<typeof createWatchedService>>;

/** Repeats something in each of some periods. @returns the alarms that send a message, by period */
export const periodsOf = async (service: Service, count: number, act: (period: number) => Promise<unknown>) => {
  const rung: string[][] = [];
  for (let period = 0; period < count; period++) {
    await act(period);
    rung.push(await service.endPeriod());
  }
  return rung;
};
/** What a period without events does. */
export const nothing = () => Promise.resolve();
