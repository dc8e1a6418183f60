import { appendFileSync, readFileSync } from "node:fs";
import { randomFrom } from "../../../infra/local/aws-terms/random.ts";
import { startLocalStack } from "../../../infra/local/stack.ts";
import { createMixedFunctions, type Side } from "./mixed-functions.ts";
import type { MixedSettings } from "./mixed-service.ts";

/** The process of a service of two versions: runs until it is killed or told to stop. @param settings a JSON file */
async function start(settings: string): Promise<void> {
  const { older, newer, dataDirectory, served, seed } = JSON.parse(readFileSync(settings, "utf8")) as MixedSettings;
  const random = randomFrom(seed);
  const choose = (): Side => (random() < 0.5 ? "older" : "newer");
  const onServed = (side: Side): void => appendFileSync(served, `${side}\n`);
  const functionOf = createMixedFunctions(older, choose, onServed);
  const stack = await startLocalStack({ port: 0, dataDirectory, synthesis: newer, functionOf });
  process.once("SIGTERM", () => void stack.stop().then(() => process.exit(0)));
  console.log("ready");
}

await start(process.argv[2] ?? "");
