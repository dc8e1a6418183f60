import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { MEMORY_MB, nodeOptionsFor } from "../../infra/limits.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import type { Busy } from "./uploads-process.ts";

const { atLeast, fact } = rowsOf("latencies");
const PROCESS = fileURLToPath(new URL("uploads-process.ts", import.meta.url));
const BUSY_MIN = 0.8;
const INSTANCES = 4;
const MILLION = 1_000_000;

/** CPU of one instance with AWS's latencies, by the number of chunks that it applies at the same time. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => {
    const execArgv = nodeOptionsFor(MEMORY_MB.computes).split(" ");
    const child = fork(PROCESS, ["latencies"], { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const ended = new AbortController();
    child.once("exit", () => ended.abort());
    const [found] = (await once(child, "message", { signal: ended.signal })) as [readonly [number, Busy][]];
    child.disconnect();
    return found.flatMap(([chunks, { busy, perSecond }], index) => {
      const name = `CPU busy, ${chunks} ${chunks === 1 ? "chunk" : "chunks"} at once`;
      return [
        index === found.length - 1 ? atLeast(name, busy, "", BUSY_MIN) : fact(name, busy, ""),
        fact(`rows a second, ${chunks} at once`, perSecond, "rows/s"),
        fact(`1,000,000 rows in ${INSTANCES} instances, ${chunks} at once`, MILLION / perSecond / INSTANCES, "s"),
      ];
    });
  });
