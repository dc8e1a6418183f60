import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { distance, nearestTo } from "../../../lib/nearest.ts";
import { REGIONS, regionCodes, stackIdOf } from "../../../lib/regions.ts";
import { PROJECT_ROOT } from "../../build.ts";
import { contextOf, projectContext } from "../../context.ts";
import { keptSettings } from "../../settings/setting-tags.ts";
import { parseSettings, SettingsError, stackNameOf } from "../../settings/settings.ts";
import { stages } from "../../stages.ts";
import { checkDeployedStack, type Drop } from "./deployed-stack.ts";

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

const OWN_OPTIONS = ["drop", "stage"] as const;
const EXAMPLES = { drop: "drop firewall", stage: "stage prod" } as const;
/** An option that differs in so few characters from one of ours is a mistake. The CDK would ignore it. */
const MISTAKE_MAX = 2;

/** Settings that `--drop` names, the stage that `--stage` names, and the options for the CDK. @throws SettingsError */
const readOptions = (options: readonly string[]) => {
  const { tokens } = parseArgs({
    args: [...options],
    strict: false,
    tokens: true,
    options: { drop: { type: "string" }, stage: { type: "string" }, profile: { type: "string" } },
  });
  const [first] = options;
  if (first !== undefined && !first.startsWith("-")) {
    throw new SettingsError(`${first}: one region at a time, and the stage as an option: --stage prod`);
  }
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const own = OWN_OPTIONS.find((name) => distance(name, token.name) <= MISTAKE_MAX);
    if (own === undefined) continue;
    if (own !== token.name)
      throw new SettingsError(`${token.rawName}: there is no such option; did you mean --${own}?`);
    if (token.value === undefined) throw new SettingsError(`--${own}: name one, for example --${EXAMPLES[own]}`);
  }
  const given = (name: string) => tokens.filter((token) => token.kind === "option" && token.name === name);
  const own = new Set(
    OWN_OPTIONS.flatMap(given).flatMap((token) =>
      "inlineValue" in token && token.inlineValue ? [token.index] : [token.index, token.index + 1],
    ),
  );
  const names = [...keptSettings, "everything"] as const;
  const drops = given("drop").map((token): Drop => {
    const name = "value" in token ? String(token.value) : "";
    const found = names.find((each) => each === name);
    if (found !== undefined) return found;
    throw new SettingsError(`--drop ${name}: there is no such setting; did you mean ${nearestTo(name, names)}?`);
  });
  const valueOf = (name: string) => given(name).map((token) => ("value" in token ? token.value : undefined))[0];
  const stage = valueOf("stage");
  const forCdk = options.filter((_, index) => !own.has(index));
  return {
    drops,
    profile: valueOf("profile"),
    cdkOptions: stage === undefined ? forCdk : [...forCdk, "-c", `stage=${stage}`],
  };
};

/**
 * Runs `npm run deploy -- <region> [--stage …] [--drop <setting> …] [other options of cdk deploy]`. It compares the
 * stage's settings with what is deployed first.
 * @throws SettingsError
 */
const deploy = async ([region, ...options]: readonly string[]): Promise<void> => {
  if (region === undefined || region.startsWith("-")) {
    const commands = regionCodes.map((code) => `npm run deploy -- ${code}`);
    throw new SettingsError(`name the region to deploy: ${commands.join(", or ")}`);
  }
  const { drops, profile, cdkOptions } = readOptions(options);
  const { stage, regions } = parseSettings({ ...projectContext(), ...contextOf(cdkOptions), region }, stages);
  for (const [code, settings] of regions) {
    const address = { stackName: stackNameOf(code, stage), region: REGIONS[code].awsRegion, profile };
    await checkDeployedStack(address, settings, drops);
    const stack = stackIdOf(code);
    const cdk = spawn(
      process.execPath,
      [join(PROJECT_ROOT, "node_modules/aws-cdk/bin/cdk"), "deploy", stack, "-c", `region=${code}`, ...cdkOptions],
      {
        cwd: PROJECT_ROOT,
        stdio: ["inherit", "inherit", "pipe"],
        env: { ...(process.stderr.isTTY && { FORCE_COLOR: "1" }), ...process.env },
      },
    );
    relay(stack, cdk.stderr);
    cdk.once("close", (status) => (process.exitCode = status ?? 1));
  }
};

try {
  await deploy(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
