import { randomUUID } from "node:crypto";
import { CommandError } from "../../command-line.ts";
import { writeFunctionLog } from "./function-log.mjs";
import { codeOf, type FunctionDefinition, type Invocation, LambdaInstance, PAYLOAD_MAX_BYTES } from "./instance.ts";
import type { FunctionError } from "./instance-messages.ts";

/** How long a function waits for events. Then all instances but one end, as Lambda ends them later. */
const IDLE_MS = 5000;

/** A function with its instances. */
export interface LambdaFunction {
  readonly name: string;
  /**
   * @param payload the event as JSON
   * @throws PayloadTooLargeError
   */
  invoke(payload: string, requestId?: string): Promise<Invocation>;
  /** Ends every instance at once, busy or not. */
  stop(): Promise<void>;
}

/** The event is larger than Lambda accepts. */
export class PayloadTooLargeError extends CommandError {}

/**
 * Runs a function as Lambda does: with its own environment, one event at a time in an instance, limits of memory and
 * time that end the instance. An instance is started when none is idle, and kept for the next event.
 * @param log file descriptors that everything printed is written to; to be open for as long as the function
 */
export function createLambdaFunction(
  definition: FunctionDefinition,
  log: readonly number[],
  idleMs = IDLE_MS,
): LambdaFunction {
  const instances = new Set<LambdaInstance>();
  const idle: LambdaInstance[] = [];
  const waiting: ((instance: LambdaInstance) => void)[] = [];
  let lastEventAt = 0;
  let reducing = false;

  const start = (): LambdaInstance => {
    const instance = new LambdaInstance(definition, log);
    instances.add(instance);
    return instance;
  };
  /** Ends all idle instances but one. */
  const reduce = (): void => {
    reducing = false;
    if (Date.now() < lastEventAt + idleMs) reduceLater();
    else {
      for (const instance of idle.splice(1)) {
        instances.delete(instance);
        void instance.stop();
      }
    }
  };
  const reduceLater = (): void => {
    if (reducing) return;
    reducing = true;
    setTimeout(reduce, idleMs).unref();
  };
  const acquire = (): LambdaInstance | Promise<LambdaInstance> => {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.isAlive()) return instance;
      instances.delete(instance);
    }
    if (instances.size < definition.concurrency) return start();
    return new Promise((resolve) => waiting.push(resolve));
  };
  const release = (instance: LambdaInstance): void => {
    if (!instance.isAlive()) instances.delete(instance);
    const next = waiting.shift();
    if (next !== undefined) next(instance.isAlive() ? instance : start());
    else if (instance.isAlive()) {
      idle.push(instance);
      lastEventAt = Date.now();
      reduceLater();
    }
  };
  const report = ({ errorType, errorMessage, trace }: FunctionError, requestId: string): void => {
    const line = { level: "ERROR", function: definition.name, requestId, errorType, errorMessage, trace };
    const { name: functionName, terminal } = definition;
    writeFunctionLog({ log, terminal, file: codeOf(definition).file, functionName }, `${JSON.stringify(line)}\n`);
  };

  return {
    name: definition.name,
    invoke: async (payload, requestId = randomUUID()) => {
      if (Buffer.byteLength(payload) > PAYLOAD_MAX_BYTES) {
        throw new PayloadTooLargeError(`an event is at most ${PAYLOAD_MAX_BYTES} bytes`);
      }
      const instance = await acquire();
      try {
        const invocation = await instance.handle({ requestId, payload });
        if (!invocation.ok) report(invocation.error, requestId);
        return invocation;
      } finally {
        release(instance);
      }
    },
    stop: async () => {
      await Promise.all([...instances].map((instance) => instance.stop()));
    },
  };
}
