import { readdirSync, rmSync, statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { type ListenOptions, Server } from "node:net";
import { join } from "node:path";
import { startFauxqs } from "fauxqs";
import type { FauxqsMessage } from "./fauxqs.ts";
import { reasonOf } from "../../plain-reason.ts";
import { withoutPages } from "./web-pages.ts";

/**
 * Makes servers of this process listen on the loopback address only, where fauxqs listens on every interface, and refuse
 * what web pages send.
 */
function serveProgramsOnly(): void {
  const listen = Reflect.get(Server.prototype, "listen") as (
    this: Server,
    options: ListenOptions,
    ...rest: unknown[]
  ) => Server;
  Server.prototype.listen = function listenLocally(this: Server, options: ListenOptions, ...rest: unknown[]) {
    for (const engine of this.listeners("request") as RequestListener[]) {
      this.off("request", engine).on("request", withoutPages(engine));
    }
    return listen.call(this, { ...options, host: "127.0.0.1" }, ...rest);
  } as typeof Server.prototype.listen;
}

/**
 * Removes incomplete files that a kill -9 left: empty metadata files, which fauxqs cannot read, and the parts of
 * multipart uploads, which it would read into memory although no client will complete them.
 */
function removeIncomplete(objects: string): void {
  rmSync(join(objects, "_multipart"), { recursive: true, force: true });
  for (const path of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
    const file = join(objects, path);
    if (path.endsWith(".meta.json") && statSync(file).size === 0) rmSync(file);
  }
}

function report(message: FauxqsMessage): void {
  process.send?.(message);
}

// Only this user may read what it stores.
process.umask(0o077);
const [, , queues, objects] = process.argv;
try {
  if (objects !== undefined) removeIncomplete(objects);
  serveProgramsOnly();
  const storage = queues !== undefined && objects !== undefined && { dataDir: queues, s3StorageDir: objects };
  const server = await startFauxqs({ port: 0, logger: false, ...storage });
  // The parent process has stopped or was killed.
  process.once("disconnect", () => void server.stop().finally(() => process.exit()));
  report({ port: server.port });
} catch (error) {
  report({ failure: reasonOf(error) });
  process.exitCode = 1;
  process.disconnect();
}
