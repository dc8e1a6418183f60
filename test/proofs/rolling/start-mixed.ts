import { appendFileSync, readFileSync } from "node:fs";
import { startLocalService } from "../../../infra/local/service.ts";
import { randomFrom } from "../../support/random.ts";
import { createMixedFunctions, type Side } from "./mixed-functions.ts";
import type { MixedSettings } from "./mixed-service.ts";

/** The process of a service of two versions: runs until it is killed or told to stop. @param settings a JSON file */
async function start(settings: string): Promise<void> {
  const { dataDirectory, served, seed, ...directories } = JSON.parse(readFileSync(settings, "utf8")) as MixedSettings;
  const random = randomFrom(seed);
  const choose = (): Side => (random() < 0.5 ? "older" : "newer");
  const onServed = (side: Side): void => appendFileSync(served, `${side}\n`);
  const create = createMixedFunctions(directories, choose, onServed);
  const service = await startLocalService({ port: 0, dataDirectory, create });
  process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
  service.terminal.print("ready\n");
}

await start(process.argv[2] ?? "");
