import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { startService } from "../hostile/process/service-process.ts";
import { skip } from "./skip.ts";

/**
 * Runs for `npm run prove -- clients`: makes clients of the OpenAPI document by two generators and uses them with a service
 * whose responses have what a later version may add: a key in every object, and values of every status but that of a
 * work item. The Python one passes mypy, and verifies a webhook's message by the public library.
 */
const { CLIENTS_PYTHON: python, CLIENTS_OAPI_CODEGEN: oapiCodegen } = process.env;
if (python === undefined || oapiCodegen === undefined) {
  skip(`it needs Go, and Python with a generator and the library of Standard Webhooks:
  python3 -m venv python && python/bin/pip install openapi-python-client==0.29.1 standardwebhooks mypy types-python-dateutil
  GOBIN=$PWD go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
  CLIENTS_PYTHON=$PWD/python/bin/python CLIENTS_OAPI_CODEGEN=$PWD/oapi-codegen npm run prove -- clients`);
}

const DOCUMENT = join(import.meta.dirname, "../../docs/openapi.json");
const programs = join(import.meta.dirname, "clients");
const directory = mkdtempSync(join(tmpdir(), "clients-"));
const go = join(directory, "go");
const service = await startService(join(directory, "data"));

/** What a later version may answer. Keys of the caller's own stay as they are. */
function later(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) return value.map((each) => later(each));
  if (typeof value !== "object" || value === null || key === "custom_attributes") return value;
  const isItem = "custom_attributes" in value;
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    name === "status" && typeof each === "string" && !isItem ? "later" : later(each, name),
  ]);
  return { ...Object.fromEntries(entries), later: { added: [true] } };
}

async function answerAsLater(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const body = await buffer(request);
  const headers = { ...(request.headers as Record<string, string>) };
  delete headers["host"];
  delete headers["connection"];
  delete headers["content-length"];
  delete headers["transfer-encoding"];
  const answer = await fetch(service.baseUrl + url, { method, headers, ...(body.length > 0 && { body }) });
  const type = answer.headers.get("content-type") ?? "";
  response.writeHead(answer.status, { "content-type": type });
  const text = await answer.text();
  response.end(type.startsWith("application/json") ? JSON.stringify(later(JSON.parse(text))) : text);
}
const laterVersion = createServer((request, response) => void answerAsLater(request, response)).listen(0, "localhost");
await once(laterVersion, "listening");

/** Runs a program in the directory. */
async function run(program: string, args: readonly string[], cwd = directory): Promise<string> {
  const env = {
    ...process.env,
    PATH: [dirname(python ?? ""), process.env["PATH"]].join(delimiter),
    BASE_URL: `http://localhost:${(laterVersion.address() as AddressInfo).port}`,
    API_KEY: service.apiKey,
    CLIENTS: directory,
    FILE: join(directory, "items.csv"),
  };
  return (await promisify(execFile)(program, args, { cwd, env, maxBuffer: 2 ** 26 })).stdout;
}

try {
  writeFileSync(join(directory, "items.csv"), "external_id,status\nfile-1,completed\n");
  const output = ["--path", DOCUMENT, "--output-path", join(directory, "work_items"), "--meta", "none"];
  await run(python, ["-m", "openapi_python_client", "generate", ...output]);
  // The generator's own client.py has errors whatever the document says.
  const made = ["work_items/models", "work_items/api"];
  console.log((await run(python, ["-m", "mypy", "--follow-imports=silent", ...made])).trim());
  console.log((await run(python, [join(programs, "use_client.py")])).trim());

  mkdirSync(go);
  copyFileSync(join(programs, "main.go"), join(go, "main.go"));
  const kinds = ["-generate", "types,client", "-response-type-suffix", "Resp", "-package", "main"];
  writeFileSync(join(go, "client.go"), await run(oapiCodegen, [...kinds, DOCUMENT]));
  await run("go", ["mod", "init", "clients"], go);
  await run("go", ["mod", "tidy"], go);
  console.log((await run("go", ["run", "."], go)).trim());
} catch (error) {
  // mypy prints what is wrong to its standard output.
  const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
  console.error(stdout + stderr || error);
  process.exitCode = 1;
} finally {
  await service.stop();
  laterVersion.close();
  rmSync(directory, { recursive: true });
}
process.exit();
