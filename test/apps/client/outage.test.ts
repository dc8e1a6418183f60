import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Change, type Client, createClient, OutageError } from "../../../apps/client/client.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";

let stack: TestService;
let line: Awaited<ReturnType<typeof startLine>>;
beforeAll(async () => {
  stack = await startTestService();
  line = await startLine(Number(new URL(stack.baseUrl).port));
});
afterAll(async () => {
  line?.down();
  await stack?.stop();
});
beforeEach(() => line.up());

/** A line to the service that can be cut: what was sent is carried out, and nothing arrives. */
async function startLine(port: number) {
  const sockets = new Set<Socket>();
  let cutAfter = Infinity;
  const server = createServer((near) => {
    const far = connect(port, "localhost");
    for (const socket of [near, far]) {
      sockets.add(socket.on("error", () => {}));
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far);
    far.on("data", (data) => {
      cutAfter -= data.length;
      if (cutAfter < 0) down();
      else near.write(data);
    });
    far.on("end", () => near.end());
  });
  const down = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const up = async (): Promise<void> => {
    cutAfter = Infinity;
    if (!server.listening) await new Promise<void>((listens) => server.listen(listensOn, "127.0.0.1", listens));
  };
  let listensOn = 0;
  await up();
  listensOn = (server.address() as AddressInfo).port;
  return {
    baseUrl: `http://127.0.0.1:${listensOn}`,
    up,
    down,
    /** Cuts the line once so many bytes of responses have passed. */
    cutAfter: (bytes: number): void => void (cutAfter = bytes),
  };
}

const clientFor = (retrySeconds: number) => createClient({ baseUrl: line.baseUrl, apiKey: stack.apiKey, retrySeconds });
/** Doesn't wait between its attempts. */
const hastyClient = () =>
  createClient({ baseUrl: line.baseUrl, apiKey: stack.apiKey, retrySeconds: 60, wait: async () => {} });
const outageOf = async (call: Promise<unknown>): Promise<OutageError> => {
  const error = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OutageError);
  return error as OutageError;
};

describe("an outage that lasts", () => {
  it("names the request, its attempts and its key, with which the call can be repeated", async () => {
    line.cutAfter(0);
    const error = await outageOf(hastyClient().uploads.upload("external_id\noutage-1\n"));
    const { method, path, attempts, idempotencyKey = "" } = error;
    expect({ method, path, attempts }).toEqual({
      method: "POST",
      path: "/v1/work_items/upload",
      attempts: expect.toSatisfy((number: number) => number > 1),
    });
    expect(error.message).toBe(
      `POST /v1/work_items/upload: no response in ${attempts} attempts. It may have been carried out. ` +
        `Repeat the call with { idempotencyKey: "${idempotencyKey}" } to have it carried out once.`,
    );
    await line.up();
    const { id } = await clientFor(5).uploads.upload("external_id\noutage-1\n", { idempotencyKey });
    const jobs: string[] = [];
    for await (const job of clientFor(5).uploads.list()) jobs.push(job.id);
    expect(jobs).toEqual([id]);
  });

  it.each<[string, (client: Client) => Promise<unknown>, string]>([
    ["a read", ({ me }) => me(), "GET /v1/me: no response in one attempt. Repeat the call once the service responds."],
    [
      "a read that is a POST",
      ({ workItems }) => workItems.getMany({ ids: ["x"] }).next(),
      "POST /v1/work_items/batch_get: no response in one attempt. Repeat the call once the service responds.",
    ],
    [
      "a change",
      ({ workItems }) => workItems.delete("x"),
      "DELETE /v1/work_items/x: no response in one attempt. It may have been carried out. Repeat the call once the service responds.",
    ],
  ])("says how to go on with %s", async (_, call, message) => {
    line.cutAfter(0);
    expect((await outageOf(call(clientFor(0)))).message).toBe(message);
  });

  it("says that nothing was carried out where no connection was made", async () => {
    line.down();
    const { message } = await outageOf(clientFor(0).workItems.create({ external_id: "never" }));
    expect(message).toContain(
      "no response in one attempt. It wasn't carried out. Repeat the call once the service responds.",
    );
  });

  it("ends a call whose response has begun", async () => {
    line.cutAfter(200);
    expect((await outageOf(hastyClient().me())).path).toBe("/v1/me");
  });
});

describe("an outage that ends", () => {
  const CUTS = 6;
  const copyOf = (client: Client, signal: AbortSignal) => {
    const copy = new Map<string, Change>();
    const running = client.copy({
      follow: true,
      limit: 10,
      signal,
      startOver: () => copy.clear(),
      apply: (changes) => {
        for (const change of changes) {
          if (change.deleted_at) copy.delete(change.id);
          else copy.set(change.id, change);
        }
      },
      saveCursor: () => {},
    });
    return { copy, ended: running.catch((reason: unknown) => reason) };
  };

  it("leaves three copies equal that follow, and loses and doubles nothing that is written", async () => {
    const stop = new AbortController();
    // Two give up a request long before the line is up again, one after it.
    const copies = [0, 0.5, 60].map((retrySeconds) => copyOf(clientFor(retrySeconds), stop.signal));
    const client = clientFor(60);
    const uploads = new Set<string>();
    for (let cut = 0; cut < CUTS; cut++) {
      line.cutAfter(cut * 300);
      setTimeout(() => void line.up(), 1500);
      const items = Array.from({ length: 30 }, (_, item) => ({ external_id: `cut-${cut}-${item}` }));
      for await (const { status } of client.workItems.apply(items)) expect(status).toMatch(/created|unchanged/);
      const created = await client.workItems.create({ external_id: `cut-${cut}` });
      await client.workItems.update(created.id, { type: "changed" });
      if (cut % 2 === 0) await client.workItems.delete(created.id);
      const upload = await client.uploads.upload(`external_id\nrow-${cut}\n`);
      uploads.add(upload.id);
      expect(await upload.wait()).toMatchObject({ status: "completed", succeeded_rows: 1 });
    }
    await line.up();
    const listed = new Map<string, object>();
    for await (const item of client.workItems.list()) listed.set(item.id, item);
    expect(listed.size).toBeGreaterThanOrEqual(CUTS * 31 + CUTS / 2);
    const isEqual = (): boolean =>
      copies.every(({ copy }) => copy.size === listed.size && [...listed.keys()].every((id) => copy.has(id)));
    await expect.poll(isEqual, { timeout: 60_000, interval: 500 }).toBe(true);
    for (const { copy } of copies) {
      const changed = [...copy.values()].filter((change) => "type" in change && change.type === "changed");
      expect(changed).toHaveLength(CUTS / 2);
    }
    const jobs: string[] = [];
    for await (const job of client.uploads.list()) if (job.id !== undefined) jobs.push(job.id);
    expect(jobs.filter((id) => uploads.has(id))).toHaveLength(CUTS);
    stop.abort(new Error("enough"));
    for (const { ended } of copies) expect(await ended).toMatchObject({ message: "enough" });
  }, 120_000);
});
