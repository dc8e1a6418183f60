import type { Clock } from "../../lib/clock.ts";

/** The CPU time that this thread has used for some work, in milliseconds. Other work on the machine hardly changes it. */
export const cpuMillisecondsOf = async (work: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

/** A clock that advances with the CPU time of this process, so that time limits also hold on a busy machine. */
export const createCpuClock = (): Clock => {
  const start = Date.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return start + Math.floor((user + system) / 1000);
  };
};
