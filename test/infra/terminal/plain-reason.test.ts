import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { plainReason } from "../../../infra/terminal/plain-reason.ts";

const reasonOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(() => expect.unreachable("succeeded") as string, plainReason);

it("says in words why a file or a service can't be reached", async () => {
  expect(await reasonOf(readFile("/nowhere"))).toBe("there is no such file or directory");
  expect(await reasonOf(readFile("/tmp"))).toBe("it is a directory");
  expect(await reasonOf(fetch("http://nothing.invalid"))).toMatch(/^(there is no such host|the host name can't be)/);
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await reasonOf(fetch(`https://127.0.0.1:${port}`))).toBe(
    "it doesn't respond with TLS; is it an http:// address, or a proxy?",
  );
  const late = fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(0) });
  expect(await reasonOf(late)).toBe("it didn't respond in time");
  await server[Symbol.asyncDispose]();
  expect(await reasonOf(fetch(`http://127.0.0.1:${port}`))).toBe("nothing listens there; is it running?");
});

it("takes the first line of what it doesn't know", () => {
  expect(plainReason(new Error("first\nsecond"))).toBe("first");
  expect(plainReason(new TypeError("fetch failed", { cause: new Error("the cause") }))).toBe("the cause");
});
