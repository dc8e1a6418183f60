import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../../functions/routes.ts";
import { organizationWith } from "../../support/organization.ts";
import { randomFrom } from "../../support/random.ts";
import { createItemCaller, type Place, type Scene } from "../callers/item-caller.ts";
import { createReader } from "../callers/reader.ts";
import { createUploader, type Uploads } from "../callers/uploader.ts";
import { Oracle } from "../oracle/oracle.ts";
import type { SeedRun } from "../run-world.ts";
import type { CallOptions, Customer, Service } from "../world/service.ts";
import { NO_RESPONSE } from "../world/world.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const KILLS = 3;
const NAMES = ["a", "ä#1", "constructor", "d", "e"];
/** The service is killed after at most so many acknowledged writes, or when it has served none for so long. */
const WRITES_MAX = 40;
const ALIVE_MAX_MS = 20_000;
/** Waits are as long as the machine needs, and not as long as people do. */
const SLEEP_MAX_MS = 300;
/** A worker's claim ends after 40 s, and a sweep comes every minute. */
const ENDS_WITHIN_MS = 1_200_000;

/** The endpoints of a service that is killed and started again and again. */
class KilledService {
  #running: ServiceProcess | undefined;
  #started = Promise.withResolvers<void>();
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @param seed lets requests to the engines fail */
  async start(seed: number | undefined): Promise<void> {
    this.#running = await startService(this.#directory, seed);
    this.#started.resolve();
  }
  async kill(engines: "with its engines" | "alone"): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#started = Promise.withResolvers();
    await running?.kill(engines);
  }
  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  readonly call: Service["call"] = async (_customer, name, request, options) => {
    const { onBegin, onEnd }: CallOptions = options ?? {};
    await this.#started.promise;
    const { baseUrl = "", apiKey = "" } = this.#running ?? {};
    const { method, path } = routes[name];
    const filled = path.replaceAll(/\{(\w+)\+?\}/g, (_, key: string) =>
      encodeURIComponent(request.params?.[key] ?? ""),
    );
    const parameters = Object.entries(request.query ?? {}).map(([key, value]) => [key, String(value)] as const);
    const query = new URLSearchParams(Object.fromEntries(parameters));
    onBegin?.(Date.now);
    try {
      const response = await fetch(`${baseUrl}${filled}?${query.toString()}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(request.body !== undefined && { "content-type": "application/json" }),
          ...Object.fromEntries(
            Object.entries(request.headers ?? {}).map(([key, value]) => [key.toLowerCase(), value]),
          ),
        },
        ...(request.body !== undefined && {
          body: Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : JSON.stringify(request.body),
        }),
      });
      const text = await response.text();
      const headers = Object.fromEntries(response.headers);
      return { status: response.status, headers, text, body: text === "" ? {} : (JSON.parse(text) as object) };
    } catch {
      // It was killed. What its last requests do to the engines they have done when it is there again.
      await this.#started.promise;
      onEnd?.();
      return NO_RESPONSE;
    }
  };
}

const uploads: Uploads = {
  slow: new Set(),
  checksSize: true,
  postFile: async (_job, text, meta) => {
    const { upload } = meta as { readonly upload?: { url: string; fields: Record<string, string> } };
    // The file has arrived, and the response to the form was lost.
    if (upload === undefined) return true;
    const { url, fields } = upload;
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append("file", new Blob([text], { type: "text/csv" }), "items.csv");
    const response = await fetch(url, { method: "POST", body }).catch(() => undefined);
    return response?.status === 204;
  },
  announce: () => undefined,
  idleSince: () => undefined,
  lossesOf: () => Promise.resolve(0),
  listOf: async (_job, _name, url) => (await fetch(url)).text(),
};

/**
 * Runs the service as a process that is killed with kill -9 under load, alone or with its engines, and is started again
 * with the same data; every other time, requests to its engines fail. What was acknowledged must be there in the end.
 */
export async function runKilled(seed: number, kills = KILLS): Promise<SeedRun> {
  const directory = mkdtempSync(join(tmpdir(), "killed-"));
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const world: Place = {
    clock: Date.now,
    hostilities: { chosen: new Set() },
    random,
    below,
    pick: (values) => values[below(values.length)]!,
    at: (time, call) => void setTimeout(call, Math.min(SLEEP_MAX_MS, Math.max(0, time - Date.now()))),
    sleep: (milliseconds) => sleep(Math.min(milliseconds, SLEEP_MAX_MS)),
    outside: (work) => work(),
  };
  const oracle = new Oracle(seed, Date.now);
  const service = new KilledService(directory);
  const scene: Scene & { readonly uploads: Uploads } = { world, service, oracle, uploads, attemptsMax: Infinity };
  const customer: Customer = {
    organization: organizationWith({ id: "demo" }),
    key: "",
    troubledUntil: 0,
    isErasing: false,
    erased: 0,
  };
  const hostilities = new Map([["kills: kill -9", kills]]);
  try {
    await service.start(seed);
    const names = [...NAMES];
    const progress = { isOver: false };
    const writers = [0, 1, 2, 3].map(async (number) => {
      const caller = createItemCaller(scene, customer, names, seed * 10 + number);
      while (!progress.isOver) await caller.run(1);
    });
    const work = Promise.all([...writers, createUploader(scene, customer, names, seed * 10 + 5).run(2)]);
    for (let killed = 0; killed < kills; killed++) {
      const enough = oracle.acknowledged + 1 + below(WRITES_MAX);
      const until = Date.now() + ALIVE_MAX_MS;
      while (oracle.acknowledged < enough && Date.now() < until) await sleep(random() * 50);
      await service.kill(random() < 0.5 ? "alone" : "with its engines");
      await service.start(killed % 2 === 0 ? undefined : seed + killed);
    }
    progress.isOver = true;
    const ended = await Promise.race([work.then(() => true), sleep(ENDS_WITHIN_MS, false, { ref: false })]);
    if (!ended) oracle.report("lost", `calls or jobs don't end within ${ENDS_WITHIN_MS / 1000} s of the last kill`);
    const reader = createItemCaller(scene, customer, [], seed);
    for (const name of oracle.itemsOf("demo").keys()) await reader.get(name);
    await createReader(scene, customer, customer, seed).compareLists();
  } catch (error) {
    oracle.report("wrong", error instanceof Error ? String(error.stack) : String(error));
  } finally {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  const { acknowledged, unfollowed, lists, findings } = oracle;
  return { hostilities, acknowledged, unfollowed, lists, findings };
}
