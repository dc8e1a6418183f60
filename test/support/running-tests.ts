import type { Reporter, TestCase, TestModule } from "vitest/node";

/** How often the files and tests are named that have been running for so long. */
const NAMED_EVERY_MS = 60_000;

/**
 * A reporter that names what has been running for a minute. Vitest shows that in terminals only, and no timeout ends a
 * test that blocks its worker: then at least its file is known.
 */
export function namingRunningTests(every: number = NAMED_EVERY_MS): Reporter {
  const running = new Map<string, { readonly name: string; readonly since: number }>();
  const begin = (id: string, name: string): void => {
    running.set(id, { name, since: performance.now() });
  };
  const nameRunning = (): void => {
    for (const { name, since } of running.values()) {
      const ms = performance.now() - since;
      if (ms >= every) console.log(`running for ${Math.round(ms / 1000)} s: ${name}`);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    onTestRunStart: () => {
      timer = setInterval(nameRunning, every).unref();
    },
    onTestModuleQueued: ({ id, relativeModuleId }: TestModule) => begin(id, relativeModuleId),
    onTestModuleEnd: ({ id }: TestModule) => void running.delete(id),
    onTestCaseReady: ({ id, module, fullName }: TestCase) => begin(id, `${module.relativeModuleId} > ${fullName}`),
    onTestCaseResult: ({ id }: TestCase) => void running.delete(id),
    onTestRunEnd: () => clearInterval(timer),
  };
}
