import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openAdministration } from "../../../apps/operator/commands/target-tables.ts";
import { randomFrom } from "../../support/random.ts";
import { putOrganization } from "../../../apps/operator/data/administration.ts";
import { createKey } from "../../../apps/operator/data/key-management.ts";
import { residentMemoryOf, startService } from "../../hostile/process/service-process.ts";
import { type LoadPhase, runLoad } from "./connections.ts";
import { createMixedWork, uploadFiles } from "./mixed-work.ts";

/** Many times the rate that the limited organization may have. */
const OVERLOAD = 10;
/** Connections of the organization that stays below its limit during the overload. */
const NEIGHBOUR_CONNECTIONS = 4;

/** Options of `runLoadProof`. */
export interface LoadOptions {
  readonly connections: number;
  /** Time for instances to start, which is not measured. */
  readonly warmUpSeconds: number;
  readonly loadSeconds: number;
  readonly overloadSeconds: number;
  readonly calmSeconds: number;
  /** Time without requests before memory is measured: functions free it when they have nothing to do. */
  readonly restSeconds: number;
  readonly seed: number;
}

/** What the phases have shown. */
export interface LoadRun {
  readonly load: LoadPhase;
  /** Of the organization that is limited to a tenth of what it offers. */
  readonly overload: LoadPhase & { readonly rate: number; readonly admitted: number; readonly admittedMax: number };
  /** Of another organization at the same time. */
  readonly neighbour: LoadPhase;
  readonly calm: LoadPhase;
  readonly uploads: number;
  /** How often the rate limiter let a request pass since the table did not respond in time. */
  readonly failedOpen: number;
  /** Memory of the service without its engines, in MiB, before the overload and after it. */
  readonly memoryBefore: number;
  readonly memoryAfter: number;
  readonly wrong: readonly object[];
}

const createLimited = async (
  directory: string,
  rate: number,
): Promise<{ readonly id: string; readonly apiKey: string }> => {
  const administration = openAdministration({}, { DATA_DIR: directory });
  const id = "limited";
  await putOrganization(administration, id, { rate, burst: rate });
  const { key } = await createKey(administration, id);
  administration.dynamodb.destroy();
  return { id, apiKey: key };
};

/**
 * Runs the whole service under mixed work; then an organization asks ten times as often as it may, beside another one;
 * then there is little to do.
 */
export const runLoadProof = async (options: LoadOptions): Promise<LoadRun> => {
  const { connections, warmUpSeconds, loadSeconds, overloadSeconds, calmSeconds, restSeconds, seed } = options;
  const directory = mkdtempSync(join(tmpdir(), "load-"));
  const service = await startService(directory);
  const { baseUrl, apiKey } = service;
  const work = createMixedWork("demo", randomFrom(seed));
  try {
    let isOver = false;
    const uploading = uploadFiles(service, () => isOver);
    const mixed = (seconds: number) => runLoad({ baseUrl, apiKey, connections, seconds, next: work, mayRefuse: false });
    const warmUp = await mixed(warmUpSeconds);
    const load = await mixed(loadSeconds);
    isOver = true;
    const uploads = await uploading;
    const calm = () => runLoad({ baseUrl, apiKey, connections: 1, seconds: calmSeconds, next: work, mayRefuse: false });
    await sleep(restSeconds * 1000);
    await calm();
    const memoryBefore = residentMemoryOf(service.pid);

    const rate = Math.max(1, Math.floor(load.requests / load.seconds / OVERLOAD));
    const limited = await createLimited(directory, rate);
    const overloading = {
      baseUrl,
      apiKey: limited.apiKey,
      connections,
      seconds: overloadSeconds,
      next: createMixedWork(limited.id, randomFrom(seed + 1)),
      mayRefuse: true,
    };
    const beside = {
      baseUrl,
      apiKey,
      connections: NEIGHBOUR_CONNECTIONS,
      seconds: overloadSeconds,
      next: work,
      mayRefuse: false,
    };
    const [overload, neighbour] = await Promise.all([runLoad(overloading), runLoad(beside)]);
    const admitted = overload.requests - (overload.statuses["429"] ?? 0);

    await sleep(restSeconds * 1000);
    const after = await calm();
    return {
      load,
      overload: { ...overload, rate, admitted, admittedMax: Math.ceil(rate + 1.1 * rate * overload.seconds) },
      neighbour,
      calm: after,
      uploads: uploads.completed,
      failedOpen: readFileSync(join(directory, "functions.log"), "utf8").split("rate limiter failed open").length - 1,
      memoryBefore,
      memoryAfter: residentMemoryOf(service.pid),
      wrong: [...warmUp.wrong, ...load.wrong, ...overload.wrong, ...neighbour.wrong, ...after.wrong, ...uploads.wrong],
    };
  } finally {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
