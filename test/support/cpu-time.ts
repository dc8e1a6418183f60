/** The CPU time that this thread has used for some work, in milliseconds. Other work on the machine hardly changes it. */
export const cpuMillisecondsOf = async (work: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};
