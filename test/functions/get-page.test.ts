import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { buildPackages } from "../../apps/pages/packages.ts";
import { create } from "../../functions/get-page.ts";
import { pages } from "../../functions/pages.ts";
import { createOpenApiDocument } from "../../infra/openapi/document.ts";
import { PROBLEM_CODES } from "../../lib/errors.ts";
import { errorKinds, problemType } from "../../lib/http/error-table.ts";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent } from "../support/organization.ts";
import { preparePages } from "../support/pages.ts";
import { createTestRuntime } from "../support/runtime.ts";

let getPage: ApiHandler;
beforeAll(async () => {
  await preparePages();
  const runtime = await createTestRuntime({ variables: { BUCKET_ORIGIN: "https://files.example.com" } });
  getPage = create({ ...runtime, environment: { ...runtime.environment, AWS_ENDPOINT_URL_S3: undefined } });
});

interface Address {
  readonly resource?: string;
  readonly path: string;
  readonly params?: Record<string, string>;
  readonly headers?: Record<string, string>;
  /** What stands before the path in the address, such as the stage. */
  readonly prefix?: string;
}
const request = async ({ path, resource = path.replace(/(.)\/$/, "$1"), prefix = "", ...more }: Address) => {
  const event = apiEvent({ path, resource, ...more });
  Object.assign(event.requestContext satisfies APIGatewayProxyEvent["requestContext"], { path: prefix + path });
  const { statusCode: status, headers, body, isBase64Encoded } = await getPage(event, lambdaContext());
  return { status, headers: headers as Record<string, string>, body, isBase64Encoded };
};

const guide = (name: string, end = ""): Address => ({
  resource: "/docs/{guide}",
  path: `/docs/${name}${end}`,
  params: { guide: name },
});
const assetOf = (name: string, headers: Record<string, string> = {}): Address => ({
  resource: "/assets/{asset}",
  path: `/assets/${name}`,
  params: { asset: name },
  headers,
});

/** The addresses in a page's links, scripts and style sheets. */
const addressesIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address = ""]) => address);

const sites: readonly (readonly [string, Address, string])[] = [
  ["/", { path: "/" }, "https://api.example.com/"],
  ["/docs", { path: "/docs" }, "https://api.example.com/docs"],
  ["/docs/", { path: "/docs/" }, "https://api.example.com/docs/"],
  ["/upload", { path: "/upload" }, "https://api.example.com/upload"],
  ["/upload/", { path: "/upload/" }, "https://api.example.com/upload/"],
  ["a guide", guide("files"), "https://api.example.com/docs/files"],
  ["a guide with pictures", guide("import-a-file"), "https://api.example.com/docs/import-a-file"],
  ["an endpoint", guide("list-work-items"), "https://api.example.com/docs/list-work-items"],
  ["errors", guide("errors"), "https://api.example.com/docs/errors"],
  ["a guide with a slash", guide("files", "/"), "https://api.example.com/docs/files/"],
  ["/ below a stage", { path: "/", prefix: "/prod" }, "https://api.example.com/prod/"],
  ["/docs/ below a stage", { path: "/docs/", prefix: "/prod" }, "https://api.example.com/prod/docs/"],
];

describe("pages", () => {
  test.each(sites)("%s links only what is served, relative to its address", async (_, address, seen) => {
    const { status, body } = await request(address);
    expect(status).toBe(200);
    const root = new URL(seen.includes("/prod/") ? "/prod/" : "/", seen).href;
    const addresses = addressesIn(body).filter((each) => !each.startsWith("data:") && !each.startsWith("#"));
    expect(addresses.length).toBeGreaterThan(4);
    for (const each of addresses.filter((link) => !/^https:\/\/(www\.)?[a-z.-]+\//.test(link))) {
      expect(each).toMatch(/^\.{1,2}\//);
      const target = new URL(each, seen).href;
      expect(target.startsWith(root)).toBe(true);
      const path = `/${target.slice(root.length).replace(/#.*$/, "")}`;
      if (path === "/v1/openapi.json") continue;
      const [, room = "", name = ""] = path.split("/");
      const found =
        name === "" ? await request({ path }) : await request(room === "assets" ? assetOf(name) : guide(name));
      expect([path, found.status]).toEqual([path, 200]);
    }
  });

  test("are there as Markdown too, which /llms.txt lists, with links to what is served", async () => {
    const site = { prefix: "/prod", headers: {} };
    const served = async (address: Address) => {
      const event = apiEvent({ resource: address.path, ...address });
      Object.assign(event.requestContext, { path: `/prod${address.path}`, domainName: "api.example.com" });
      const { statusCode, headers, body } = await getPage(event, lambdaContext());
      return { status: statusCode, type: headers?.["content-type"], body };
    };
    const linksIn = (markdown: string): string[] =>
      [...markdown.matchAll(/\]\((https:\/\/api\.example\.com\/prod\/[^)#]*)/g)].map(([, link = ""]) => link);
    const list = await served({ path: "/llms.txt", ...site });
    expect(list).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
    const listed = linksIn(list.body);
    const { body: overview } = await request({ path: "/docs" });
    const all = new Set(addressesIn(overview).flatMap((each) => /^\.\/docs\/([\w-]+)/.exec(each)?.[1] ?? []));
    expect(listed).toEqual(
      expect.arrayContaining([...all].map((name) => `https://api.example.com/prod/docs/${name}.md`)),
    );
    expect(new Set(listed).size).toBe(listed.length);
    for (const address of listed) {
      const page = await served(guide(address.split("/").at(-1)!));
      expect([address, page.status, page.type]).toEqual([address, 200, "text/markdown; charset=utf-8"]);
      expect(page.body).toMatch(/^# \S/);
      expect(page.body).not.toMatch(/\{\{(root|base_url)|localhost:3000/);
      for (const link of linksIn(page.body).filter((each) => each.includes("/docs/"))) expect(listed).toContain(link);
    }
    const { body: page } = await request(guide("keys"));
    expect(page).toContain('<link rel="alternate" type="text/markdown" href="../docs/keys.md" />');
  });

  test("have an address for every operation, error and code", async () => {
    const document = createOpenApiDocument();
    const summaries = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const { operationId } of summaries) {
      const name = String(operationId).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect([name, (await request(guide(name))).status]).toEqual([name, 200]);
    }
    const { body } = await request(guide("errors"));
    for (const { name, status } of errorKinds) {
      expect(body).toContain(`<h3 id="${name}"><code>${name}</code></h3>\n<p>Status ${status}, <code>`);
      expect(body).toContain(`<code>${problemType({ name })}</code>. `);
    }
    for (const code of PROBLEM_CODES) expect(body).toContain(`id="code-${code}"`);
  });

  test("name only headings of pages in their links", async () => {
    const seen = new Map<string, string>();
    const read = async (path: string): Promise<string> => {
      const name = path.slice("/docs/".length);
      if (!seen.has(path)) seen.set(path, (await request(name === "" ? { path: "/docs" } : guide(name))).body);
      return seen.get(path)!;
    };
    const linking = [
      "errors",
      "requests",
      "values",
      "lists",
      "uploads",
      "mappings",
      "limits",
      "glossary",
      "list-work-items",
    ];
    for (const from of ["/docs", ...linking.map((name) => `/docs/${name}`)]) {
      const own = await read(from);
      for (const address of addressesIn(own).filter((each) => each.includes("#"))) {
        const { pathname, hash } = new URL(address, `https://api.example.com${from}`);
        expect([from, address, await read(pathname)]).toEqual([
          from,
          address,
          expect.stringContaining(`id="${hash.slice(1)}"`),
        ]);
      }
    }
  });

  test.each(["", "prod"])("print the address that serves them, below %j too", async (stage) => {
    const event = apiEvent({ ...guide("get-health"), resource: "/docs/{guide}" });
    const path = `${stage === "" ? "" : `/${stage}`}/docs/get-health`;
    Object.assign(event.requestContext, { path, domainName: "api.example.com" });
    const { body } = await getPage(event, lambdaContext());
    const url = `https://api.example.com${stage === "" ? "" : `/${stage}`}/v1/health`;
    expect(body).toContain(`curl <span class="c-string">&quot;${url}&quot;</span>`);
  });

  test("don't print an address that isn't one", async () => {
    const event = apiEvent({ ...guide("get-health"), resource: "/docs/{guide}" });
    Object.assign(event.requestContext, { path: "/docs/get-health", domainName: 'x"><script>alert(1)</script>' });
    expect((await getPage(event, lambdaContext())).body).not.toContain("<script>");
  });

  test("/ below a stage works without a slash at its end", async () => {
    const event = apiEvent({ path: "/", resource: "/" });
    Object.assign(event.requestContext, { path: "/prod" });
    const { body } = await getPage(event, lambdaContext());
    const links = addressesIn(body).filter((each) => each.startsWith("."));
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) expect(new URL(link, "https://api.example.com/prod").pathname).toMatch(/^\/prod\//);
  });

  test.each(pages.paths.filter((path) => !path.includes("{")))(
    "%s may load only its own files and call only its own service",
    async (path) => {
      const { headers, body } = await request({ path });
      const policy = Object.fromEntries(
        headers["content-security-policy"]!.split("; ").map((each) => each.split(/ (.*)/s, 2) as [string, string]),
      );
      expect(policy).toMatchObject({
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self' https://files.example.com",
        "frame-ancestors": "'none'",
      });
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
      expect(body).not.toMatch(/<style|style="|<script(?![^>]*src=)|\son[a-z]+="/);
      expect(body).not.toContain("{{");
    },
  );

  test("are revalidated, with a 304 where nothing changed", async () => {
    const first = await request({ path: "/docs" });
    expect(first.headers["cache-control"]).toBe("public, no-cache");
    const again = await request({ path: "/docs", headers: { "If-None-Match": first.headers["etag"]! } });
    expect([again.status, again.body]).toEqual([304, ""]);
  });

  test("that do not exist are 404 with a page for browsers", async () => {
    const headers = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const deeper = {
      resource: "/docs/{guide}/{rest+}",
      path: "/docs/keys/b/c",
      params: { guide: "keys", rest: "b/c" },
    };
    for (const address of [guide("nothing"), guide("nothing.md"), deeper]) {
      const { status, body, headers: answered } = await request({ ...address, headers });
      const root = "../".repeat(address.path.split("/").length - 2);
      expect(body).toContain(`href="${root}docs"`);
      expect([status, answered["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
      expect(body).toContain("<h1>Page not found</h1>");
      expect(body).not.toContain("{{");
    }
  });

  test("that do not exist are 404 in the contract's form", async () => {
    for (const address of [
      guide("nothing"),
      guide("constructor"),
      guide("../home"),
      assetOf("index.json"),
      assetOf("toString"),
    ]) {
      const { status, body } = await request(address);
      expect([status, JSON.parse(body)]).toEqual([404, { error: expect.stringMatching(/^no such (page|file)$/) }]);
    }
  });
});

describe("assets", () => {
  const scriptOf = async (): Promise<string> => {
    const { body } = await request({ path: "/docs" });
    return /assets\/(docs-[A-Z0-9]+\.js)/.exec(body)![1]!;
  };

  test.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate", "gzip", gunzipSync],
    ["br;q=0, gzip", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ])("come as %s prefers, each unpacking to the same", async (accepted, coding, unpack) => {
    const name = await scriptOf();
    const plain = await request(assetOf(name));
    const { status, headers, body, isBase64Encoded } = await request(assetOf(name, { "Accept-Encoding": accepted }));
    expect([status, isBase64Encoded, headers["content-encoding"]]).toEqual([200, true, coding]);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: expect.stringContaining("Accept-Encoding"),
    });
    expect(unpack(Buffer.from(body, "base64")).equals(Buffer.from(plain.body, "base64"))).toBe(true);
  });

  test("fit into a response of Lambda, unpacked too", async () => {
    const { body } = await request(assetOf(await scriptOf()));
    expect(body.length).toBeLessThan(5.5 * 1024 * 1024);
  });

  test("of the import page have at most 150 KB when they are compressed, without the reader of workbooks", async () => {
    const { body } = await request({ path: "/upload" });
    const waiting = [...body.matchAll(/assets\/([^"]+)/g)].map(([, name]) => name!);
    const loaded = new Set<string>();
    let size = 0;
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (loaded.has(name)) continue;
      loaded.add(name);
      const asset = await request(assetOf(name, { "Accept-Encoding": "gzip" }));
      const bytes = Buffer.from(asset.body, "base64");
      size += bytes.length;
      const imports = gunzipSync(bytes)
        .toString()
        .matchAll(/(?:from|import)"\.\/([^"]+)"/g);
      waiting.push(...[...imports].map(([, imported]) => imported!));
    }
    expect([...loaded].filter((name) => name.startsWith("upload-"))).toHaveLength(2);
    expect([...loaded].filter((name) => name.startsWith("workbook-"))).toEqual([]);
    expect(size).toBeLessThan(150_000);
  });
});

describe("the packages", () => {
  const namesIn = (body: string): string[] => [...new Set(body.match(/work-items-[\w.-]+\.tgz/g) ?? [])];
  const packageOf = (name: string): Address => guide(name);

  test("are served below the page that names them, for ever and below what a function may answer", async () => {
    const { body: page } = await request(guide("clients"));
    const names = namesIn(page);
    expect(names.map((name) => name.replace(/[0-9a-f]{12}/, "#"))).toEqual([
      expect.stringMatching(/^work-items-client-\d+\.\d+\.\d+-#\.tgz$/),
      expect.stringMatching(/^work-items-\d+\.\d+\.\d+-#\.tgz$/),
    ]);
    expect(namesIn((await request(guide("clients", ".md"))).body)).toEqual(names);
    for (const name of names) {
      const { status, headers, body, isBase64Encoded } = await request(packageOf(name));
      expect({ status, isBase64Encoded, ...headers }).toMatchObject({
        status: 200,
        isBase64Encoded: true,
        "content-type": "application/gzip",
        "cache-control": "public, max-age=31536000, immutable",
      });
      expect(headers).not.toHaveProperty("content-encoding");
      expect(body.length).toBeLessThan(6 * 1024 * 1024);
      expect(gunzipSync(Buffer.from(body, "base64")).toString("latin1")).toContain("package/package.json");
    }
    expect((await request(packageOf(names[0]!.replace(/[0-9a-f]{12}/, "0".repeat(12))))).status).toBe(404);
  });

  test("have the same bytes whenever they are built from the same version", async () => {
    const names = (await buildPackages()).map(({ file }) => file);
    expect(namesIn((await request(guide("clients"))).body)).toEqual(names);
  });
});
