import { once } from "node:events";
import { createServer, request as httpRequest, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openAdministration } from "../../../../apps/operator/commands/target-tables.ts";
import { smokeCommand } from "../../../../apps/operator/commands/smoke.ts";
import { operatorRuntime, type OperatorRuntime } from "../../../../apps/operator/commands/operator-runtime.ts";
import { eraseOrganization } from "../../../../apps/operator/data/erase-organization.ts";
import { listOrganizations, putOrganization } from "../../../../apps/operator/data/administration.ts";
import { createKey } from "../../../../apps/operator/data/key-management.ts";
import { generateApiKey } from "../../../../lib/organizations/api-key.ts";
import { withoutTimeouts } from "../../../support/faults.ts";
import { endedDaysAgo, startTestService, type TestService } from "../../../support/local-service.ts";
import { runCommand } from "../../../support/terminal.ts";

let stack: TestService;
let operator: OperatorRuntime;
let key: string;
beforeAll(async () => {
  stack = await startTestService();
  operator = operatorRuntime(openAdministration({}, { ...stack.environment, REGION_CODE: "us" }));
  await putOrganization(operator, "smoke-1");
  ({ key } = await createKey(operator, "smoke-1"));
});
afterAll(async () => {
  await stack?.stop();
});
beforeEach(withoutTimeouts);
// An undo waits until the import's last workers have ended: here they had ended long ago.
beforeEach(() => {
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", async (address: string, init?: RequestInit) => {
    const [, job] = /\/upload\/([^/]+)\/undo$/.exec(address) ?? [];
    if (job !== undefined) await endedDaysAgo(stack, job, 1, "smoke-1");
    return fetch(address, init);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
});

const smoke = (url: string, apiKey = key, options: readonly string[] = []) =>
  runCommand(smokeCommand, ["--url", url, "--key", apiKey, ...options], {
    env: { ...process.env, ...stack.environment, REGION_CODE: "us" },
  });

/** @returns the address of a server that stops after the test */
const listening = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
};

const receiver = (): Promise<string> => listening((_, response) => response.writeHead(204).end());

/** A deployment that differs from the documentation: responses pass through `change`. */
const deploymentThat = (change: (headers: Record<string, unknown>, body: string) => string): Promise<string> =>
  listening((message, response) => {
    // Uncompressed, because the response is changed as text.
    const headersOf = { ...message.headers, "accept-encoding": "identity" };
    const sent = { method: message.method, path: message.url, headers: headersOf };
    // A busy machine breaks connections: the command then sees one that broke, too.
    const breakOff = () => void response.destroy();
    const forwarded = httpRequest(stack.baseUrl, sent, (received) => {
      const { "content-length": _, ...headers } = received.headers;
      const answer = async () => {
        const changed = change(headers, await text(received));
        response.writeHead(received.statusCode ?? 500, headers).end(changed);
      };
      answer().catch(breakOff);
    }).on("error", breakOff);
    message.pipe(forwarded);
  });

describe("npm run smoke", () => {
  it("finds everything as documented on the local service, and leaves what an erasure removes", async () => {
    const { status, out, error } = await smoke(`${stack.baseUrl}/`, key, ["--receiver", await receiver()]);
    expect({ status, error, out }).toEqual({ status: 0, error: "", out: expect.stringContaining("upload by a form") });
    expect(out).not.toContain("DIFFERS");
    expect(out).not.toContain("skipped: name");

    let now = Date.now();
    const { erased } = await eraseOrganization({ ...operator, clock: () => now }, "smoke-1", {
      sleep: async (milliseconds) => {
        now += milliseconds;
      },
    });
    expect(erased).toMatchObject({ work_items: 108, events: 1, upload_jobs: 4 });
    expect((await listOrganizations(operator)).map(({ organization }) => organization)).toEqual(["demo"]);
    await putOrganization(operator, "smoke-1");
    ({ key } = await createKey(operator, "smoke-1"));
  });

  it("says where a deployment differs, such as one whose change feed is dead, and exits with 1", async () => {
    const url = await deploymentThat((headers, body) => {
      if (body.startsWith('{"error"')) delete headers["x-request-id"];
      return body
        .replace(/"data":\[.*"sequence".*\],"meta"/, '"data":[],"meta"')
        .replace('"created_rows":1', '"created_rows":2');
    });
    const { status, out } = await smoke(url);
    expect(status).toBe(1);
    expect(out).toMatch(/^paths and methods +DIFFERS +\d+ ms {2}404 without x-request-id$/m);
    expect(out).toMatch(/^change feed +DIFFERS +\d+ ms {2}the change didn't come within two minutes$/m);
    expect(out).toMatch(/^undo +DIFFERS .*the import: /m);
    expect(out).toMatch(/^batches +ok/m);
    expect(out).toMatch(/^webhooks +— .* skipped: name a receiver/m);
    expect(out).toMatch(/^\d+ of 18 checks differ$/m);
  });

  it("writes nothing where it is in the wrong place", async () => {
    const eu = await deploymentThat((_headers, body) => body.replace('"region":"us"', '"region":"eu"'));
    const broken = await deploymentThat(() => {
      throw new Error("the connection breaks");
    });
    const { key: demo } = await createKey(operator, "demo");
    const refused = await Promise.all([
      smoke(eu),
      smoke(stack.baseUrl, demo),
      smoke(stack.baseUrl, demo, ["--organization", "demo"]),
      smoke(stack.baseUrl, generateApiKey("us")),
      smoke(stack.baseUrl, `${key.slice(0, -6)}000000`),
      smoke("http://127.0.0.1:9"),
      smoke(broken),
      smoke("nowhere"),
    ]);
    expect(refused.map(({ status, out }) => [status, out])).toEqual(refused.map(() => [1, ""]));
    expect(refused.map(({ error }) => error)).toEqual([
      `${eu} serves the region eu, but the key is for us`,
      "the key is not one of organization smoke-1; nothing was written. Name its own: --organization smoke-…",
      "--organization: its name must begin with smoke-",
      expect.stringMatching(/^a dry run is 401: /),
      "--key: isn't a whole API key",
      expect.stringContaining("http://127.0.0.1:9 does not respond: "),
      expect.stringContaining(`${broken} does not respond: `),
      "--url: must be an address such as https://…",
    ]);
  });
});
