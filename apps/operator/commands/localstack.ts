import { spawn, spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { regionCodesInWords, stackIdOf } from "@work-items/lib/regions.ts";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import { CommandError, createCommandLine, UsageError } from "@work-items/terminal/command-line.ts";
import { type Variables, writeEnvironmentFile } from "@work-items/terminal/environment-file.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import { DEFAULT_STAGE, stackNameOf } from "../../../infra/settings/settings.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { resourceVariables } from "./stack-variables.ts";
import { writeDataVersion } from "@work-items/lib/store/data-version.ts";
import { operatorRuntime } from "./operator-runtime.ts";
import { awsRegionIn, openAdministration, regionCode, runOperatorCommand } from "./target-tables.ts";

const ENDPOINT_DEFAULT = "http://localhost:4566";
/** The name by which functions, the CDK and uploads reach LocalStack. */
const NAME = "localhost.localstack.cloud";
/** Its address for functions, which run in containers of LocalStack's network. Its port there is fixed. */
const INSIDE = `http://${NAME}:4566`;
/** The services that the stack needs. */
const SERVICES = ["apigateway", "cloudformation", "dynamodb", "dynamodbstreams", "lambda", "s3", "sqs", "sts"];
const ACCOUNT = "000000000000";
const HOW_TO_START = `Start one first. LocalStack 4.14 is the last version that needs no account:

  docker run --rm -p 4566:4566 -p 4510-4559:4510-4559 -v /var/run/docker.sock:/var/run/docker.sock \\
    -e PROVIDER_OVERRIDE_DYNAMODB=v2 -e PROVIDER_OVERRIDE_DYNAMODBSTREAMS=v2 localstack/localstack:4.14

Without these providers, what batches and uploads write doesn't reach the stream, and so neither the feed nor webhooks.

floci and ministack are free alternatives with the same port. Functions need a container runtime in all of them.`;

/** Runs a program of this project. @returns what it prints, if `keepsOutput` @throws CommandError if it fails */
async function run(
  script: string,
  args: readonly string[],
  env: Readonly<NodeJS.Dict<string>>,
  { keepsOutput = false } = {},
): Promise<string> {
  const stdout = keepsOutput ? "pipe" : "inherit";
  const child = spawn(process.execPath, [script, ...args], {
    cwd: PROJECT_ROOT,
    stdio: ["ignore", stdout, "inherit"],
    env,
  });
  let output = "";
  child.stdout?.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject),
  );
  if (code !== 0) throw new CommandError(`${[script, ...args].join(" ")} failed with ${code ?? "a signal"}`);
  return output;
}

/** Finds a running LocalStack. @throws UsageError saying how to get one */
async function assertRunning(endpoint: string): Promise<void> {
  const health = await fetch(`${endpoint}/_localstack/health`, { signal: AbortSignal.timeout(5000) }).catch(
    (error: unknown) => {
      throw new UsageError(`LocalStack isn't running at ${endpoint} (${plainReason(error)}). ${HOW_TO_START}`);
    },
  );
  if (!health.ok)
    throw new UsageError(`${endpoint} responds with ${health.status} and isn't LocalStack. ${HOW_TO_START}`);
  const { services = {} } = (await health.json()) as { readonly services?: Readonly<Record<string, string>> };
  const missing = SERVICES.filter((name) => !["available", "running"].includes(services[name] ?? ""));
  if (missing.length > 0) {
    throw new UsageError(
      `LocalStack at ${endpoint} doesn't offer ${missing.join(", ")}. Versions after 4.14 need LOCALSTACK_AUTH_TOKEN; ` +
        `SERVICES may leave some out. ${HOW_TO_START}`,
    );
  }
}

/** The names that must resolve to this machine: LocalStack's, S3's, and that of the CDK's bucket for code in a region. */
export function namesOf(awsRegion: string): readonly string[] {
  return [NAME, `s3.${NAME}`, `cdk-hnb659fds-assets-${ACCOUNT}-${awsRegion}.s3.${NAME}`];
}

/** Checks that LocalStack's names resolve to this machine. @throws UsageError naming one that doesn't */
async function assertNames(awsRegion: string): Promise<void> {
  const names = namesOf(awsRegion);
  for (const name of names) {
    const found = await lookup(name).catch(() => undefined);
    if (found !== undefined && /^(127\.|::1$)/.test(found.address)) continue;
    throw new UsageError(
      `${name} must resolve to 127.0.0.1, but ${found === undefined ? "doesn't resolve" : `is ${found.address}`}: ` +
        `add "127.0.0.1 ${names.join(" ")}" to /etc/hosts, or let your DNS server answer with loopback addresses`,
    );
  }
}

function readOutputs(file: string, stackName: string): Variables {
  const outputs = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, Variables>>;
  return outputs[stackName] ?? {};
}

/** Deploys a region to LocalStack, creates an organization with a key, and checks the deployment. */
async function deployToLocalStack(
  terminal: Terminal,
  name: string,
  { endpoint, inside }: { readonly endpoint: string; readonly inside: string },
): Promise<void> {
  const region = regionCode(name);
  await assertRunning(endpoint);
  const awsRegion = awsRegionIn(DEFAULT_STAGE, region);
  if (new URL(endpoint).hostname === "localhost") await assertNames(awsRegion);
  if (spawnSync("docker", ["version"], { stdio: "ignore" }).status !== 0) {
    terminal.note("Docker isn't running here: functions only start if LocalStack has another container runtime");
  }
  const directory = mkdtempSync(join(tmpdir(), "work-items-localstack-"));
  const environment = {
    ...terminal.env,
    AWS_ENDPOINT_URL: endpoint,
    // The CDK addresses its bucket by host name.
    AWS_ENDPOINT_URL_S3: endpoint.replace("//localhost:", `//s3.${NAME}:`),
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: awsRegion,
    AWS_DEFAULT_REGION: awsRegion,
  };
  const cdk = "node_modules/aws-cdk/bin/cdk";
  try {
    const functionsFile = join(directory, "functions.env");
    writeEnvironmentFile(functionsFile, {
      AWS_ENDPOINT_URL: inside,
      S3_FORCE_PATH_STYLE: "true",
      WEBHOOKS_TO_LOCALHOST: "true",
    });
    await run(cdk, ["bootstrap", `aws://${ACCOUNT}/${awsRegion}`], environment);
    const outputsFile = join(directory, "outputs.json");
    const stackName = stackNameOf(region, DEFAULT_STAGE);
    await run(
      cdk,
      [
        "deploy",
        stackIdOf(region),
        "--require-approval",
        "never",
        "--outputs-file",
        outputsFile,
        "-c",
        `region=${region}`,
        "-c",
        `environment=${functionsFile}`,
      ],
      environment,
    );
    const outputs = readOutputs(outputsFile, stackName);
    const [, apiId = ""] = /^https?:\/\/([a-z0-9]+)\./.exec(outputs["ApiUrl"] ?? "") ?? [];
    const url = `${endpoint}/_aws/execute-api/${apiId}/${DEFAULT_STAGE}`;
    const resources = resourceVariables((output) => outputs[output]);
    const onTables = { ...environment, ...resources, REGION_CODE: region, S3_FORCE_PATH_STYLE: "true" };
    const opened = operatorRuntime(openAdministration({}, onTables));
    await writeDataVersion({ ...opened, environment: { ...opened.environment, REGION_CODE: region } });
    const keys = (...args: readonly string[]): Promise<string> =>
      run("apps/operator/commands/keys.ts", [...args, "--organization", "smoke-1"], onTables, { keepsOutput: true });
    const key = (await keys("create", "--create", "--name", "localstack")).split("\n", 1)[0] ?? "";
    try {
      await run("apps/operator/commands/smoke.ts", ["--url", url, "--key", key], onTables);
    } finally {
      await keys("revoke", "--key", key);
    }
    terminal.printLines(`\nBASE_URL=${url}\nThe key of this run is revoked.\n`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** `npm run localstack`. @returns the exit status */
export function localstackCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run localstack --",
    "Build, bootstrap and deploy a region to a running LocalStack, and check it",
  );
  program
    .argument("<region>", regionCodesInWords)
    .option("--endpoint <url>", "address of LocalStack", ENDPOINT_DEFAULT)
    .option("--inside <url>", "its address for functions, if they don't run in containers", INSIDE)
    .addHelpText("after", `\n${HOW_TO_START}`)
    .action((region: string, options: { readonly endpoint: string; readonly inside: string }) =>
      deployToLocalStack(terminal, region, options),
    );
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(localstackCommand);
