import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "aws-lambda";
import * as newer from "../../../apps/local/functions.ts";
import { startLocalService } from "../../../apps/local/local-service.ts";
import { randomFrom } from "../../support/random.ts";
import { createFaultyRuntime } from "../../support/uploads/fault-injection.ts";
import { Hostilities } from "../world/hostilities.ts";

/**
 * The service as a process in whose requests things go wrong, if it has a HOSTILE_SEED. Its other variables are DATA_DIR and
 * OLDER: the directory of a version whose functions serve every other call at random. It runs until it is killed or told to
 * stop.
 */
const { DATA_DIR: dataDirectory = "", HOSTILE_SEED: seed, OLDER: older } = process.env;
const random = randomFrom(Number(seed ?? 0));
const hostilities = new Hostilities(random, ["refusals", "silence", "conflicts"]);
if (seed === undefined) hostilities.end();

/** Each makes clients of its own: the SDK's paginators take no others. */
const versions = [newer];
if (older !== undefined) {
  versions.push((await import(pathToFileURL(join(older, "apps/local/functions.ts")).href)) as typeof newer);
}

/** A version's function, in whose requests things go wrong; the newer one if the older hasn't got it. */
async function createIn({ createClients, importFunction }: typeof newer, name: string, runtime: newer.LocalRuntime) {
  const { runtime: faulty, during } = createFaultyRuntime({ ...runtime, ...createClients() });
  const { create } = await importFunction(name).catch(() => newer.importFunction(name));
  const handler: (event: unknown, context: Context) => Promise<unknown> = create(faulty);
  return { handler, during };
}
const create: newer.CreateHandler = async (name, runtime) => {
  const made = await Promise.all(versions.map((version) => createIn(version, name, runtime)));
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
    const { handler, during } = made[Math.floor(random() * made.length)]!;
    return during(run, () => handler(event, context));
  };
};

const service = await startLocalService({ port: 0, dataDirectory, create });
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
service.terminal.print("ready\n");
