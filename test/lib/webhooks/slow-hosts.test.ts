import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { createCallReceiver } from "../../../lib/webhooks/call-receiver.ts";
import { generateSecret } from "../../../lib/webhooks/signature.ts";

/** A receiver whose thread accepts no connection until it is released. */
const RECEIVER = `
  const { parentPort, workerData: { host, port, released } } = require("node:worker_threads");
  require("node:http")
    .createServer((_, response) => response.writeHead(204).end())
    .listen({ host, port, backlog: 1 }, function () {
      parentPort.postMessage(this.address().port);
      Atomics.wait(released, 0, 0);
    });`;
/** More connections than such a receiver's queue takes. A further one waits until the kernel asks again, after a second. */
const QUEUED = 4;

const stops: (() => unknown)[] = [];
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))));

/** Starts a receiver whose queue is full. @returns its port, and what makes it accept connections */
async function startFull(host: string, port = 0) {
  const released = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(RECEIVER, { eval: true, workerData: { host, port, released } });
  const listens = await new Promise<number>((started, failed) => worker.once("message", started).once("error", failed));
  const queued: Socket[] = Array.from({ length: QUEUED }, () => connect(listens, host).on("error", () => {}));
  const release = (): void => {
    for (const socket of queued) socket.destroy();
    Atomics.store(released, 0, 1);
    Atomics.notify(released, 0);
  };
  stops.push(() => {
    release();
    return worker.terminate();
  });
  await expect.poll(() => queued.some(({ connecting }) => !connecting)).toBe(true);
  return { port: listens, release };
}

const callHost = (hosts: readonly string[], port: number) => {
  const runtime = { clock: Date.now, environment: { WEBHOOKS_TO_LOCALHOST: true, VERSION: "1.0.0" } };
  const addresses = hosts.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const call = createCallReceiver(runtime, (_, found) => found(null, addresses), 6000);
  const message = { id: "m", type: "work_items.changed", data: { sequence: 7 } } as const;
  return call(`http://localhost:${port}/`, message, { secret: generateSecret() });
};

const DEAD = undefined;
test.each<[string, number | undefined, number | undefined]>([
  ["both slow", 500, 500],
  ["the first slow and the other dead", 500, DEAD],
  // The first has a third of the six seconds.
  ["the first dead and the other slow", DEAD, 2500],
])("a host with two addresses is called: %s", async (_, ...releasedAfter) => {
  const hosts = ["127.0.0.1", "127.0.0.2"];
  let port = 0;
  for (const [index, host] of hosts.entries()) {
    const receiver = await startFull(host, port);
    port = receiver.port;
    const milliseconds = releasedAfter[index];
    if (milliseconds !== undefined) setTimeout(receiver.release, milliseconds);
  }
  expect(await callHost(hosts, port)).toMatchObject({ status: 204 });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
const CLOSED = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
test.each<[string, object]>([
  ["127.0.0.1", { reason: "the connection was refused" }],
  ...(hasIpv6 ? [["::1", { status: 204 }] satisfies [string, object]] : []),
])("three addresses are tried, of both families: %s after three others", async (host, outcome) => {
  const { port, release } = await startFull(host);
  release();
  expect(await callHost([...CLOSED, host], port)).toMatchObject(outcome);
});
