import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { pages } from "../../functions/pages.ts";
import { allServed, gatewayFunctions, unknownRoute } from "../../functions/routes.ts";
import { loggedError } from "@work-items/lib/http/middleware.ts";
import { methodsOf } from "@work-items/lib/http/route.ts";
import { API_TIMEOUT_SECONDS } from "../../infra/limits.ts";
import { type FunctionHost, type Invoke, loadFunction } from "./functions.ts";
import { type Gateway, startGateway } from "./gateway/gateway.ts";
import type { Endpoint } from "./gateway/router.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";

const BUILD_PAGES = fileURLToPath(new URL("../pages/build-pages.ts", import.meta.url));

/** Builds the pages into a directory, in another process. @throws CommandError with what it printed */
export async function buildPages(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  const child = spawn(process.execPath, [BUILD_PAGES, directory], { stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(child, "exit") as Promise<[number | null]>;
  const printed = await text(child.stderr);
  if ((await exit)[0] !== 0) throw new CommandError(`the pages cannot be built: ${printed.trim()}`);
}

/** Loads the function of the pages. @param prepare called before the first page is served, and again if it failed */
export async function loadPages(host: FunctionHost, prepare: () => Promise<void>): Promise<Invoke> {
  const page = await loadFunction(pages.name, API_TIMEOUT_SECONDS, host);
  let prepared: Promise<void> | undefined;
  return async (event, requestId) => {
    prepared ??= prepare();
    try {
      await prepared;
    } catch (error) {
      prepared = undefined;
      host.runtime.log.error("invocation failed", { function: pages.name, error: loggedError(error) });
      throw error;
    }
    return page(event, requestId);
  };
}

export interface ApiOptions extends FunctionHost {
  /** 0 selects any free port. */
  readonly port: number;
  /** Origins of the pages that may call the API. */
  readonly allowedOrigins: readonly string[];
  /** Puts the pages into the directory that `LAMBDA_TASK_ROOT` names. Called at the first request for a page. */
  readonly preparePages: () => Promise<void>;
}

/** Serves all routes in the table, and the pages. @throws CommandError if the port is in use */
export async function startApi({ port, allowedOrigins, preparePages, ...host }: ApiOptions): Promise<Gateway> {
  const loaded = new Map<string, Invoke>();
  const load = async (name: string): Promise<void> => {
    const isPages = name === pages.name;
    loaded.set(name, await (isPages ? loadPages(host, preparePages) : loadFunction(name, API_TIMEOUT_SECONDS, host)));
  };
  await Promise.all(gatewayFunctions().map(({ name }) => load(name)));
  const endpoints = allServed().flatMap(({ name, path, method: own }) =>
    methodsOf({ method: own }).map((method): Endpoint<Invoke> => ({ method, path, target: loaded.get(name)! })),
  );
  const unknown = loaded.get(unknownRoute.name)!;
  return startGateway({ endpoints, unknown, allowedOrigins, port, log: host.runtime.log });
}
