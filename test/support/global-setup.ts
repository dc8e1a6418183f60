import { synthesize } from "../../infra/local/synthesis.ts";
import { startEngines } from "./engines.ts";

/** Starts the embedded engines once for the whole suite. Every test file provisions its own resources in them. */
export default async function setup(): Promise<() => Promise<void>> {
  const [stop] = await Promise.all([startEngines(), synthesize()]);
  return stop;
}
