import type { RequestListener } from "node:http";
import { readdirSync, rmSync, statSync } from "node:fs";
import { type ListenOptions, Server } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type FauxqsServer, startFauxqs } from "fauxqs";
import type { FauxqsMessage } from "./fauxqs.ts";
import { createS3Front } from "../s3/front.ts";
import { reasonOf } from "@work-items/terminal/plain-reason.ts";

/**
 * Makes this process's server listen on the loopback address only, since fauxqs listens on every interface. Puts a listener in
 * front of the engine's own.
 */
function serveLocally(inFrontOf: (engine: RequestListener) => RequestListener): void {
  const listen = Reflect.get(Server.prototype, "listen") as (
    this: Server,
    options: ListenOptions,
    ...rest: unknown[]
  ) => Server;
  Server.prototype.listen = function listenLocally(this: Server, options: ListenOptions, ...rest: unknown[]) {
    for (const engine of this.listeners("request") as RequestListener[]) {
      this.off("request", engine).on("request", inFrontOf(engine));
    }
    return listen.call(this, { ...options, host: "127.0.0.1" }, ...rest);
  } as typeof Server.prototype.listen;
}

/**
 * Removes incomplete files that a kill -9 left: empty metadata files, which fauxqs can't read, and parts of multipart uploads.
 * It would read the parts into memory, although no client will complete them.
 */
function removeIncomplete(objects: string): void {
  rmSync(join(objects, "_multipart"), { recursive: true, force: true });
  for (const path of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
    const file = join(objects, path);
    if (path.endsWith(".meta.json") && statSync(file).size === 0) rmSync(file);
  }
}

/**
 * Makes messages visible that had been received when the engine ended, since their receivers have ended too. The engine also
 * gives messages to pollers that have gone while the service stops.
 */
function releaseMessages(queues: string): void {
  using database = new DatabaseSync(join(queues, "fauxqs.db"));
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqs_messages'").get() === undefined;
  if (isNew) return;
  database.exec("UPDATE sqs_messages SET visibility_deadline = 1 WHERE visibility_deadline IS NOT NULL");
}

function report(message: FauxqsMessage): void {
  process.send?.(message);
}

// Only this user may read what it stores.
process.umask(0o077);
const [, , queues, objects] = process.argv;
try {
  if (objects !== undefined) removeIncomplete(objects);
  if (queues !== undefined) releaseMessages(queues);
  let started: FauxqsServer | undefined;
  const front = createS3Front((queue, body) => started?.sendMessage(queue, body));
  serveLocally(front.inFrontOf);
  const storage = queues !== undefined && objects !== undefined && { dataDir: queues, s3StorageDir: objects };
  const server = await startFauxqs({ port: 0, logger: false, messageSpies: { bufferSize: 1 }, ...storage });
  started = server;
  // The filter sees each event before the client gets its response, so an acknowledged file has its message.
  void server.spy.waitForMessage((event) => {
    if (event.service === "s3" && (event.status === "uploaded" || event.status === "copied")) {
      front.notify(event.bucket, event.key);
    }
    return false;
  });
  // The parent process has stopped or was killed.
  process.once("disconnect", () => void server.stop().finally(() => process.exit()));
  report({ port: server.port });
} catch (error) {
  report({ failure: reasonOf(error) });
  process.exitCode = 1;
  process.disconnect();
}
