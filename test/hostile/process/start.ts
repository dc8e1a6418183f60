import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "aws-lambda";
import {
  type CreateHandler,
  createClients,
  importFunction,
  type LocalRuntime,
} from "../../../infra/local/functions.ts";
import { startLocalService } from "../../../infra/local/service.ts";
import { randomFrom } from "../../support/random.ts";
import { createFaultyRuntime } from "../../support/uploads/fault-injection.ts";
import { Hostilities } from "../world/hostilities.ts";

/**
 * The service as a process in whose requests things go wrong. Its variables are DATA_DIR, HOSTILE_SEED and OLDER: the
 * directory of a version whose functions serve every other call at random. It runs until it is killed or told to stop.
 */
const { DATA_DIR: dataDirectory = "", HOSTILE_SEED: seed, OLDER: older } = process.env;
const random = randomFrom(Number(seed));
const hostilities = new Hostilities(random, ["refusals", "silence", "damage", "conflicts"]);

type Handler = (event: unknown, context: Context) => Promise<unknown>;
const load = async (name: string, runtime: LocalRuntime): Promise<readonly Handler[]> => {
  const newer = await importFunction(name);
  if (older === undefined) return [newer.create(runtime)];
  const file = pathToFileURL(join(older, `functions/${name}.ts`)).href;
  const other = (await import(file).catch(() => newer)) as typeof newer;
  return [newer.create(runtime), other.create(runtime)];
};
const create: CreateHandler = async (name, runtime) => {
  const { runtime: faulty, during } = createFaultyRuntime({ ...runtime, ...createClients() });
  const handlers = await load(name, faulty);
  return (event, context) => {
    const options = { isCalm: false, mayStop: false, isSlow: false, clockMaxMs: 0, random };
    const { faultOf, statementFault, attemptFault } = hostilities.ofRun(options, () => undefined);
    const run = {
      clock: Date.now,
      faultOf: (command: string, { TableName }: Readonly<Record<string, unknown>>) =>
        TableName === runtime.environment.LIMITS_TABLE ? ("none" as const) : faultOf(command),
      statementFault,
      attemptFault: (command: string, { TableName }: Readonly<Record<string, unknown>>) =>
        TableName === runtime.environment.LIMITS_TABLE ? ("none" as const) : attemptFault(command),
      stop: () => Promise.resolve(),
      onMessages: () => undefined,
    };
    const handler = handlers[Math.floor(random() * handlers.length)]!;
    return during(run, () => handler(event, context));
  };
};

const service = await startLocalService({ port: 0, dataDirectory, create });
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
service.terminal.print("ready\n");
