import { createSocket } from "node:dgram";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterEach, describe, expect, it, test } from "vitest";
import { createCallReceiver } from "../../../lib/webhooks/call-receiver.ts";
import { createResolve, type Resolve } from "../../../lib/webhooks/look-up.ts";
import { isPublicAddress, REFUSED_IPV4, REFUSED_IPV6 } from "../../../lib/webhooks/public-addresses.ts";
import { generateSecret, rotated } from "../../../lib/webhooks/signature.ts";
import { startReceiver } from "../../support/webhooks.ts";

/** The certificate of another host than the receiver's, valid until 2126, and its key, which nothing else uses. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVOgAwIBAgIURVDnJw16jqAZ8nbGdKxRB011QZEwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRb3RoZXIuZXhhbXBsZS5jb20wIBcNMjYxMTI1MTQzNTA1WhgP
MjEyNjExMDExNDM1MDVaMBwxGjAYBgNVBAMMEW90aGVyLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZtwj1LxouxIMfFGptNNzvqAI+cD7cuhF
2hvoUZ8BtDuS2+A1rSAmZoTJ4HOfKnpBJHKQlNRE6xUgZ3Uz3YAJxaNxMG8wHQYD
VR0OBBYEFJgnRJZxH4kS46Luv3OHpnzmrxR/MB8GA1UdIwQYMBaAFJgnRJZxH4kS
46Luv3OHpnzmrxR/MA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRb3RoZXIu
ZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDRwAwRAIgHZe+l9Xwgi/YV9BQg2oCxg9l
4p4z9Y2am5s6j72IWqoCIFfwyvKEz5XzZ2EcD8Tqf6E6r9OtQ5K67iRtzBrD1E6J
-----END CERTIFICATE-----
`;
const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggbiHLrexonhrgG6Z
GQJLgvBSIj5VksmR4nUwvveFsquhRANCAARm3CPUvGi7Egx8Uam003O+oAj5wPty
6EXaG+hRnwG0O5Lb4DWtICZmhMngc58qekEkcpCU1ETrFSBndTPdgAnF
-----END PRIVATE KEY-----
`;

const secret = generateSecret();
const runtimeFor = (WEBHOOKS_TO_LOCALHOST: boolean) => ({
  clock: Date.now,
  environment: { WEBHOOKS_TO_LOCALHOST, VERSION: "1.0.0" },
});
const local = createCallReceiver(runtimeFor(true));
const message = { id: "m", type: "work_items.changed", data: { sequence: 7 } } as const;
const callLocally = (url: string) => local(url, message, { secret });

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))));
const receiverWith = async (answer?: Parameters<typeof startReceiver>[0]) => {
  const receiver = await startReceiver(answer);
  stops.push(receiver.stop);
  return receiver;
};

describe("a message", () => {
  test("is verified by the public library, for 24 hours by the secret before too", async () => {
    const { url, received } = await receiverWith();
    const next = generateSecret();
    const secrets = rotated({ secret }, next, Date.now());
    expect(await local(url, message, secrets)).toMatchObject({ status: 204 });
    await local(url, message, { ...secrets, previous: [{ secret, until: Date.now() }] });
    // The response to the first rotation was lost: its receiver knows neither of the new secrets.
    await local(url, message, rotated(secrets, generateSecret(), Date.now()));
    const verifies = (by: string, index: number): boolean => {
      try {
        const { body, headers } = received[index]!;
        new StandardWebhook(by).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    };
    expect([verifies(secret, 0), verifies(next, 0)]).toEqual([true, true]);
    expect([verifies(secret, 1), verifies(next, 1)]).toEqual([false, true]);
    expect([verifies(secret, 2), verifies(next, 2)]).toEqual([true, true]);
    expect(received[0]).toMatchObject({
      type: "work_items.changed",
      data: { sequence: 7 },
      headers: { "content-type": "application/json", "user-agent": "work-items/1.0.0", "webhook-id": "m" },
    });
  });
});

describe("a receiver", () => {
  test.each([200, 302, 404, 500])("that answers %i is reported by that, and is called once", async (status) => {
    const { url, received } = await receiverWith((_, response) => {
      response.writeHead(status, { location: "/elsewhere" }).end();
    });
    expect(await callLocally(url)).toMatchObject({ status });
    expect(received).toHaveLength(1);
  });

  test("that sends 100 MB isn't read", async () => {
    let sent = 0;
    const { url } = await receiverWith((_, response) => {
      response.writeHead(200, { "content-length": 100 * 1024 * 1024 });
      const write = (): void => {
        while (sent < 100 * 1024 * 1024 && !response.destroyed) {
          sent += 1024 * 1024;
          if (!response.write(Buffer.alloc(1024 * 1024))) return void response.once("drain", write);
        }
      };
      write();
    });
    expect(await callLocally(url)).toMatchObject({ status: 200 });
    expect(sent).toBeLessThan(50 * 1024 * 1024);
  });

  test("may ask to be left alone, in seconds or by a date", async () => {
    for (const after of ["7", new Date(Date.now() + 7500).toUTCString()]) {
      const { url } = await receiverWith((_, response) => void response.writeHead(429, { "retry-after": after }).end());
      const { retryAfterMs = 0 } = await callLocally(url);
      expect(retryAfterMs).toBeGreaterThan(4000);
      expect(retryAfterMs).toBeLessThan(9000);
    }
  });

  /** Starts a server of bytes. */
  const listenFor = async (onConnection: (socket: Socket) => void): Promise<string> => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      onConnection(socket);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    stops.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `//localhost:${(server.address() as AddressInfo).port}/`;
  };

  test.each([
    ["never answers", () => {}],
    [
      "sends a header a little at a time",
      (socket: Socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => socket.write("a: b\r\n"), 50);
        socket.once("close", () => clearInterval(timer));
      },
    ],
    [
      "says without end that an answer comes",
      (socket: Socket) => {
        const timer = setInterval(
          () => socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"),
          50,
        );
        socket.once("close", () => clearInterval(timer));
      },
    ],
  ])("that %s is waited for until the call's time is over", async (_, onConnection) => {
    const call = createCallReceiver(runtimeFor(true), undefined, 500);
    const url = `http:${await listenFor(onConnection)}`;
    expect(await call(url, message, { secret })).toMatchObject({ reason: "no response within 0.5 seconds" });
  });

  test.each([
    ["closes without an answer", (socket: Socket) => socket.end(), "the connection was closed"],
    [
      "closes after an interim answer",
      (socket: Socket) => socket.end("HTTP/1.1 103 Early Hints\r\n\r\n"),
      "the connection was closed",
    ],
    ["resets the connection", (socket: Socket) => socket.resetAndDestroy(), "the connection was closed"],
    [
      "closes inside its headers",
      (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-"),
      "the connection was closed",
    ],
    ["sends no HTTP", (socket: Socket) => socket.end("hello\r\n\r\n"), "the response isn't valid HTTP"],
    [
      "sends endless headers",
      (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\na: ${"b".repeat(100_000)}\r\n\r\n`),
      "the response's headers are too large",
    ],
  ])("that %s is a failure with its reason", async (_, onConnection, reason) => {
    expect(await callLocally(`http:${await listenFor(onConnection)}`)).toMatchObject({ reason });
  });

  test.each(["Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n", ""])(
    "that switches protocols has answered 101 (%j)",
    async (headers) => {
      const head = `HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`;
      let isClosed = false;
      const url = await listenFor((socket) => {
        socket.once("close", () => (isClosed = true)).resume();
        socket.write(head);
      });
      expect(await callLocally(`http:${url}`)).toMatchObject({ status: 101 });
      await expect.poll(() => isClosed).toBe(true);
    },
  );

  test("whose name ends with a dot is called by the name without it", async () => {
    const { url, received } = await receiverWith();
    expect(await callLocally(url.replace("localhost", "localhost."))).toMatchObject({ status: 204 });
    expect(received[0]?.headers["host"]).toBe(new URL(url).host);
    const deployed = createCallReceiver(runtimeFor(false), createResolve(["127.0.0.1:9"]));
    for (const host of ["localhost", "localhost.", "127.0.0.1.", "10.1.2.3."]) {
      const reason = "the host has an address of a private network";
      expect(await deployed(`https://${host}/`, message, { secret })).toMatchObject({ reason });
    }
  });

  test("that isn't there, or has no TLS, is a failure with its reason", async () => {
    const gone = await startReceiver();
    await gone.stop();
    expect(await callLocally(gone.url)).toMatchObject({ reason: "the connection was refused" });
    const noTls = await listenFor((socket) => socket.end("hello\r\n\r\n"));
    expect(await callLocally(`https:${noTls}`)).toMatchObject({
      reason: "the certificate or the TLS connection isn't valid",
    });
  });

  test("with the certificate of another name gets nothing, and neither does one with an unknown issuer", async () => {
    let requests = 0;
    const server = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    stops.push(async () => server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const refusal = { reason: "the certificate or the TLS connection isn't valid" };
    expect(await callLocally(url)).toMatchObject(refusal);
    const before = getCACertificates();
    setDefaultCACertificates([CERTIFICATE]);
    try {
      expect(await callLocally(url)).toMatchObject(refusal);
    } finally {
      setDefaultCACertificates(before);
    }
    expect(requests).toBe(0);
  });
});

describe("a name server", () => {
  /** The code with which it answers, and the addresses of the host. */
  const HOSTS: Readonly<Record<string, { readonly code: number; readonly a?: string; readonly aaaa?: string }>> = {
    "both.example.com": { code: 0, a: "93.184.216.34", aaaa: "2606:2800:220:1:0:0:0:1" },
    "new.example.com": { code: 0, aaaa: "2606:2800:220:1:0:0:0:1" },
    "private.example.com": { code: 0, a: "93.184.216.34", aaaa: "fd00:0:0:0:0:0:0:1" },
    "empty.example.com": { code: 0 },
    "broken.example.com": { code: 2 },
    "unknown.example.com": { code: 3 },
  };
  const AAAA = 28;
  const bytesOf = (address: string): Buffer =>
    address.includes(":")
      ? Buffer.from(
          address
            .split(":")
            .map((part) => part.padStart(4, "0"))
            .join(""),
          "hex",
        )
      : Buffer.from(address.split(".").map(Number));
  /** Starts one that never answers for other hosts. @returns where it is, and the hosts that it was asked for */
  const startNameServer = async () => {
    const asked: string[] = [];
    const server = createSocket("udp4");
    server.on("message", (query, { port, address: from }) => {
      const labels: string[] = [];
      let at = 12;
      for (let length = query[at]!; length > 0; length = query[at]!) {
        labels.push(query.toString("latin1", at + 1, at + 1 + length));
        at += 1 + length;
      }
      const host = labels.join(".");
      asked.push(host);
      const known = HOSTS[host];
      if (known === undefined) return;
      const type = query.readUInt16BE(at + 1);
      const address = type === AAAA ? known.aaaa : known.a;
      const header = Buffer.alloc(12);
      query.copy(header, 0, 0, 2);
      header.writeUInt16BE(0x8180 + known.code, 2);
      header.writeUInt16BE(1, 4);
      header.writeUInt16BE(address === undefined ? 0 : 1, 6);
      const question = query.subarray(12, at + 5);
      const bytes = address === undefined ? undefined : bytesOf(address);
      const answer = bytes && [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]), bytes];
      server.send(Buffer.concat([header, question, ...(answer ?? [])]), port, from);
    });
    await new Promise<void>((listening) => server.bind(0, "127.0.0.1", listening));
    stops.push(async () => server.close());
    return { resolve: createResolve([`127.0.0.1:${server.address().port}`]), asked };
  };
  const lookUp = (resolve: Resolve, host: string, signal: AbortSignal) =>
    new Promise<string>((done) => {
      resolve(
        host,
        (error, found) => done(error === null ? found.map(({ address }) => address).join(" ") : String(error)),
        signal,
      );
    });

  test.each([
    ["both.example.com", "93.184.216.34 2606:2800:220:1::1"],
    ["new.example.com", "2606:2800:220:1::1"],
  ])("gives the addresses of %s", async (host, addresses) => {
    const { resolve } = await startNameServer();
    expect(await lookUp(resolve, host, new AbortController().signal)).toBe(addresses);
  });

  test.each([
    ["unknown.example.com", "the host wasn't found"],
    ["empty.example.com", "the host wasn't found"],
    ["broken.example.com", "the host can't be resolved"],
    ["private.example.com", "the host has an address of a private network"],
  ])("makes a call of %s a failure with its reason", async (host, reason) => {
    const { resolve } = await startNameServer();
    const call = createCallReceiver(runtimeFor(true), resolve);
    expect(await call(`https://${host}/`, message, { secret })).toMatchObject({ reason });
  });

  test("that doesn't answer ends no call later, and doesn't hold up the look-ups of others", async () => {
    const { resolve, asked } = await startNameServer();
    const call = createCallReceiver(runtimeFor(true), resolve, 500);
    const reason = "no response within 0.5 seconds";
    expect(await call("https://silent.example.com/", message, { secret })).toMatchObject({ reason });
    const calls = new AbortController();
    let ended = 0;
    const slow = Array.from({ length: 40 }, async (_, number) => {
      await lookUp(resolve, `${number}.example.com`, calls.signal);
      ended++;
    });
    await expect.poll(() => new Set(asked).size).toBe(41);
    const { signal } = new AbortController();
    expect(await lookUp(resolve, "both.example.com", signal)).toContain("93.184.216.34");
    expect(ended).toBe(0);
    calls.abort();
    await Promise.all(slow);
  });

  test("isn't asked any more when the call has ended", async () => {
    const { resolve, asked } = await startNameServer();
    const call = new AbortController();
    const ended = lookUp(resolve, "silent.example.com", call.signal);
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    const before = performance.now();
    call.abort();
    expect(await ended).toContain("no address");
    expect(performance.now() - before).toBeLessThan(1500);
  });
});

describe("an address of a private network", () => {
  const REFUSED = { reason: "the host has an address of a private network" };
  const resolvingTo =
    (...rounds: readonly (readonly string[])[]): Resolve =>
    (_, found) => {
      const addresses = rounds[Math.min(calls++, rounds.length - 1)] ?? [];
      found(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    };
  let calls = 0;
  const call = (resolve: Resolve, url = "https://receiver.example.com/") => {
    calls = 0;
    return createCallReceiver(runtimeFor(false), resolve)(url, message, { secret });
  };
  /** The first and the last address of a network. */
  const lastOf = (network: string, prefix: number): string => {
    const parts = network.split(".").map(Number);
    const value = parts.reduce((sum, part) => sum * 256 + part, 0) + 2 ** (32 - prefix) - 1;
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
  };

  it.each(REFUSED_IPV4.map(([network, prefix]) => [network, lastOf(network, prefix)]))(
    "from %s to %s is refused when the socket connects, and as a literal",
    async (...addresses) => {
      for (const address of addresses) {
        expect(await call(resolvingTo([address]))).toMatchObject(REFUSED);
        expect(calls).toBe(1);
        expect(await call(resolvingTo([address]), `https://${address}/`)).toMatchObject(REFUSED);
        expect(calls).toBe(0);
      }
    },
  );

  it.each([
    ...REFUSED_IPV6.map(([network]) => network),
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
    "2002:a9fe:a9fe::1",
  ])("such as %s is refused when the socket connects, and as a literal", async (address) => {
    expect(await call(resolvingTo([address]))).toMatchObject(REFUSED);
    expect(await call(resolvingTo([address]), `https://[${address}]/`)).toMatchObject(REFUSED);
  });

  it("is refused also among public ones, and in other spellings", async () => {
    expect(await call(resolvingTo(["93.184.216.34", "10.0.0.1"]))).toMatchObject(REFUSED);
    for (const host of ["127.1", "0x7f000001", "2130706433", "0251.0376.0251.0376"]) {
      expect(await call(resolvingTo(["93.184.216.34"]), `https://${host}/`)).toMatchObject(REFUSED);
    }
  });

  it("is refused when a name shows it the second time only", async () => {
    const { url, received } = await receiverWith();
    calls = 0;
    const rebinding = createCallReceiver(runtimeFor(true), resolvingTo(["127.0.0.1"], ["169.254.169.254"]));
    expect(await rebinding(url, message, { secret })).toMatchObject({ status: 204 });
    expect(await rebinding(url, message, { secret })).toMatchObject(REFUSED);
    expect([received.length, calls]).toEqual([1, 2]);
  });

  it("is no other one", () => {
    for (const address of ["1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "2606:2800:220:1::1"]) {
      expect([address, isPublicAddress(address)]).toEqual([address, true]);
    }
  });

  it("is this machine's too, unless the service runs on it", async () => {
    const { url, received } = await receiverWith();
    expect(await createCallReceiver(runtimeFor(false))(url, message, { secret })).toMatchObject(REFUSED);
    expect(received).toEqual([]);
  });
});
