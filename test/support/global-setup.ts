import { startEngines } from "./engines.ts";

/** Starts the embedded engines once for the whole suite; every test file makes its own tables, buckets and queues in them. */
export default function setup(): Promise<() => Promise<void>> {
  return startEngines();
}
