import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildFunctions, functionNames, PROJECT_ROOT } from "../../../infra/build.ts";
import { createLambdaFunction } from "../../../infra/local/lambda-function.ts";
import { regionCodes, regionCodesInWords } from "../../../lib/regions.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { makeApp } from "../synthesized.ts";

const require = createRequire(import.meta.url);

interface Outcome {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Runs a file of `infra/` as the npm scripts do, without credentials. */
const run = (file: string, options: readonly string[], variables: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const { PATH = "", HOME = "" } = process.env;
    execFile(
      process.execPath,
      [join(PROJECT_ROOT, "infra", file), ...options],
      { env: { PATH, HOME, ...variables } },
      (error, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
        resolve({ code: error === null ? 0 : Number(error.code), lines });
      },
    );
  });

describe("a refusal is one line and exit 1", () => {
  test.each([
    ["app.ts", ["-c", "stage=production"], "-c stage=production: must be dev or prod"],
    [
      "commands/deploy.ts",
      [],
      `name the region to deploy: ${regionCodes.map((code) => `npm run deploy -- ${code}`).join(", or ")}`,
    ],
    ["commands/deploy.ts", ["mars"], `-c region=mars: must be ${regionCodesInWords}`],
    ["commands/deploy.ts", ["us", "-c", "stage=production"], "-c stage=production: must be dev or prod"],
  ])("%s %j", async (file, options, line) => {
    expect(await run(file, options)).toEqual({ code: 1, lines: [line] });
  });
});

describe("an account that is not bootstrapped", { timeout: 60_000 }, () => {
  let aws: Server;
  beforeAll(() => {
    /** Endpoint of an empty account: it knows the caller, has no parameters, and no role can be assumed. */
    aws = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        if (request.headers["x-amz-target"] === "AmazonSSM.GetParameter") {
          response.writeHead(400, { "content-type": "application/x-amz-json-1.1" });
          response.end(JSON.stringify({ __type: "ParameterNotFound" }));
        } else if (body.includes("Action=GetCallerIdentity")) {
          response.end(
            "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account>" +
              "<Arn>arn:aws:iam::111122223333:user/operator</Arn><UserId>operator</UserId>" +
              "</GetCallerIdentityResult></GetCallerIdentityResponse>",
          );
        } else {
          response.writeHead(403, { "content-type": "text/xml" });
          response.end("<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>");
        }
      });
    });
    return new Promise<void>((resolve) => aws.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => aws.close());

  test("makes deploy print how to prepare it", async () => {
    const { directory } = makeApp({ region: "us" }).synth();
    const { code, lines } = await run("commands/deploy.ts", ["us", "--app", directory, "--require-approval", "never"], {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: "example",
      AWS_SECRET_ACCESS_KEY: "example",
    });
    expect(code).toBe(1);
    expect(lines.at(-1)).toBe(
      "WorkItems-us: prepare the account first, once: npx cdk bootstrap aws://111122223333/us-east-1",
    );
    expect(lines.filter((line) => /bootstrap|assume/.test(line))).toHaveLength(1);
  });
});

describe("the build", () => {
  const FUNCTION = { handler: "index.handler", memoryMb: 512, timeoutSeconds: 20, concurrency: 1 } as const;
  let outdir: string;
  beforeAll(async () => {
    outdir = await mkdtemp(join(tmpdir(), "work-items-build-"));
    await buildFunctions(outdir);
  });
  afterAll(() => rm(outdir, { recursive: true }));

  test("makes one file for each function, which exports its handler", async () => {
    expect((await readdir(outdir)).toSorted()).toEqual(functionNames.toSorted());
    for (const name of functionNames) {
      expect(await readdir(join(outdir, name))).toEqual(["index.js"]);
      const bundle = require(join(outdir, name, "index.js")) as { readonly handler?: unknown };
      expect([name, typeof bundle.handler]).toEqual([name, "function"]);
    }
  });

  test.each([
    ["record-qa-score", {}, "InvalidInputError"],
    ["record-qa-score", { organization: "acme", external_id: "unknown", qa_score: 1 }, "NotFoundError"],
    [
      "record-conversation-upload",
      { organization: "unknown", external_id: "call", source: "phone", status: "pending" },
      "NotFoundError",
    ],
  ])("keeps the names of errors: %s fails for %j with %s", async (name, payload, errorType) => {
    const { environment: variables } = await createTestRuntime();
    const environment = Object.fromEntries(
      Object.entries({ ...process.env, ...variables }).map(([key, value]) => [key, String(value)]),
    );
    const log = new PassThrough().resume();
    const target = createLambdaFunction(
      { ...FUNCTION, name, arn: name, directory: join(outdir, name), environment },
      log,
    );
    onTestFinished(() => target.stop());
    expect(await target.invoke(JSON.stringify(payload))).toMatchObject({ ok: false, error: { errorType } });
  });

  test("keeps every function small enough to start fast", async () => {
    const BUNDLE_BYTES_MAX = 800_000;
    for (const name of functionNames) {
      const { size } = await stat(join(outdir, name, "index.js"));
      expect([name, size < BUNDLE_BYTES_MAX]).toEqual([name, true]);
    }
  });
});
