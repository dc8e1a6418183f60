import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { regionCodes, stackNameOf } from "../../lib/regions.ts";
import { PROJECT_ROOT } from "../build.ts";
import { contextOf, projectContext } from "../context.ts";
import { parseSettings, SettingsError } from "../settings.ts";

/** The CDK prints this for each bootstrap role that it cannot assume, before it finds the cause. */
const ROLE_NOT_ASSUMED = "could not be used to assume";
const NOT_BOOTSTRAPPED = /\/cdk-bootstrap\/\S+ not found in (aws:\/\/\S+?)\.?\s/;

/** Prints the CDK's output; if the account is not bootstrapped, one line replaces the CDK's long message. */
const relay = (stack: string, output: NodeJS.ReadableStream): void => {
  let held: string[] = [];
  let isReplaced = false;
  const release = (): void => {
    for (const line of held) console.error(line);
    held = [];
  };
  const print = (line: string): void => {
    if (line.includes(ROLE_NOT_ASSUMED)) {
      held.push(line);
      return;
    }
    const environment = NOT_BOOTSTRAPPED.exec(line)?.[1];
    if (environment === undefined) {
      release();
      console.error(line);
      return;
    }
    console.error(`${stack}: prepare the account first, once: npx cdk bootstrap ${environment}`);
    isReplaced = true;
  };
  createInterface({ input: output })
    .on("line", (line) => isReplaced || print(line))
    .once("close", () => isReplaced || release());
};

/**
 * Runs `npm run deploy -- <region> [-c name=value …] [other options of cdk deploy]`.
 * @throws SettingsError before any request to AWS
 */
const deploy = ([region, ...options]: readonly string[]): void => {
  if (region === undefined || region.startsWith("-")) {
    const commands = regionCodes.map((code) => `npm run deploy -- ${code}`);
    throw new SettingsError(`name the region to deploy: ${commands.join(", or ")}`);
  }
  const [regionCode = "us"] = parseSettings({ ...projectContext(), ...contextOf(options), region }).regions;
  const stack = stackNameOf(regionCode);
  const cdk = spawn(
    process.execPath,
    [join(PROJECT_ROOT, "node_modules/aws-cdk/bin/cdk"), "deploy", stack, "-c", `region=${region}`, ...options],
    {
      cwd: PROJECT_ROOT,
      stdio: ["inherit", "inherit", "pipe"],
      env: { ...(process.stderr.isTTY && { FORCE_COLOR: "1" }), ...process.env },
    },
  );
  relay(stack, cdk.stderr);
  cdk.once("close", (code) => (process.exitCode = code ?? 1));
};

try {
  deploy(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
