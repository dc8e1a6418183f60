import type { Context } from "aws-lambda";
import { createClients, type CreateHandler, importFunction } from "../../../apps/local/functions.ts";
import { startLocalService } from "../../../apps/local/local-service.ts";
import { randomFrom } from "../../support/random.ts";
import { createFaultyRuntime } from "../../support/uploads/fault-injection.ts";
import { Hostilities } from "../world/hostilities.ts";

/**
 * The service as a process in whose requests things go wrong, if it has a HOSTILE_SEED. Its other variable is DATA_DIR. It
 * runs until it is killed or told to stop.
 */
const { DATA_DIR: dataDirectory = "", HOSTILE_SEED: seed } = process.env;
const random = randomFrom(Number(seed ?? 0));
const hostilities = new Hostilities(random, ["refusals", "silence", "conflicts"]);
if (seed === undefined) hostilities.end();

const create: CreateHandler = async (name, runtime) => {
  const { runtime: faulty, during } = createFaultyRuntime({ ...runtime, ...createClients() });
  const { create: createHandler } = await importFunction(name);
  const handler: (event: unknown, context: Context) => Promise<unknown> = createHandler(faulty);
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
    return during(run, () => handler(event, context));
  };
};

const service = await startLocalService({ port: 0, dataDirectory, create });
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
service.terminal.print("ready\n");
