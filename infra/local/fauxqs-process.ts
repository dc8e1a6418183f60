import { readdirSync, rmSync, statSync } from "node:fs";
import { type ListenOptions, Server } from "node:net";
import { join } from "node:path";
import { startFauxqs } from "fauxqs";
import type { FauxqsMessage } from "./fauxqs-engine.ts";
import { reasonOf } from "./local-stack-error.ts";

/** fauxqs listens on every interface; what is kept here is for this machine alone. */
const listenOnLoopback = (): void => {
  const listen = Reflect.get(Server.prototype, "listen") as (
    this: Server,
    options: ListenOptions,
    ...rest: unknown[]
  ) => Server;
  Server.prototype.listen = function listenLocally(this: Server, options: ListenOptions, ...rest: unknown[]) {
    return listen.call(this, { ...options, host: "127.0.0.1" }, ...rest);
  } as typeof Server.prototype.listen;
};

/**
 * Takes away what a kill -9 left half-written and fauxqs could not read again: descriptions of no length, and the
 * parts of uploads that nobody will complete, which it would read into memory.
 */
const mend = (objects: string): void => {
  rmSync(join(objects, "_multipart"), { recursive: true, force: true });
  for (const path of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
    const file = join(objects, path);
    if (path.endsWith(".meta.json") && statSync(file).size === 0) rmSync(file);
  }
};

const say = (message: FauxqsMessage): void => {
  process.send?.(message);
};

const [, , queues, objects] = process.argv;
try {
  if (objects !== undefined) mend(objects);
  listenOnLoopback();
  const storage = queues !== undefined && objects !== undefined && { dataDir: queues, s3StorageDir: objects };
  const server = await startFauxqs({ port: 0, logger: false, ...storage });
  // The parent has stopped or was killed: either way nobody is left to serve.
  process.once("disconnect", () => void server.stop().finally(() => process.exit()));
  say({ port: server.port });
} catch (error) {
  say({ failure: reasonOf(error) });
  process.exitCode = 1;
  process.disconnect();
}
