import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localFilesIn } from "../../../infra/environment-file.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { type ServiceProcess, startServiceProcess } from "../service-process.ts";
import type { Side } from "./mixed-functions.ts";

const SCRIPT = fileURLToPath(new URL("start-mixed.ts", import.meta.url));

/** What the process of a service of two versions reads at its start. */
export interface MixedSettings {
  /** Directories of the versions' checkouts. */
  readonly older: string;
  readonly newer: string;
  readonly dataDirectory: string;
  /** A file that gets a line with the side of each invocation. */
  readonly served: string;
  readonly seed: number;
}

const servedFile = (directory: string): string => join(directory, "served");

/** How many invocations each version has served, also in processes that were killed. */
export function countServed(directory: string): Readonly<Record<Side, number>> {
  const file = servedFile(directory);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const count = (side: Side): number => lines.filter((line) => line === side).length;
  return { older: count("older"), newer: count("newer") };
}

/** Where the service of both versions keeps its data. */
export const dataDirectoryOf = (directory: string): string => join(directory, "data");

/**
 * Starts a service whose invocations are served by two versions at random, as a process of its own.
 * @param directory keeps the data of several starts
 * @throws Error if it does not become ready
 */
export async function startMixedService(
  directory: string,
  sides: Pick<MixedSettings, Side>,
  seed: number,
): Promise<ServiceProcess> {
  const settings = join(directory, "settings.json");
  const dataDirectory = dataDirectoryOf(directory);
  const given: MixedSettings = { ...sides, dataDirectory, served: servedFile(directory), seed };
  writeFileSync(settings, JSON.stringify(given));
  return startServiceProcess([SCRIPT, settings], childEnvironment(), localFilesIn(dataDirectory).service);
}
