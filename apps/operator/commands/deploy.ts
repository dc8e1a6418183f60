import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { distance } from "fastest-levenshtein";
import { nearestTo } from "@work-items/lib/nearest.ts";
import { type RegionCode, regionCodes, stackIdOf } from "@work-items/lib/regions.ts";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import {
  contextOf,
  parseSettings,
  projectContext,
  SettingsError,
  stackNameOf,
  STAGES_FILE,
} from "../../../infra/settings/settings.ts";
import { keptSettings } from "../../../infra/settings/setting-tags.ts";
import type { RegionSettings } from "../../../infra/settings/stage-settings.ts";
import { stages } from "../../../infra/stages.ts";
import { createCommandLine, runCommand } from "@work-items/terminal/command-line.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { checkAccount } from "./account-check.ts";
import { checkDeployedStack, type Drop, type StackAddress } from "./deployed-stack.ts";
import { assertReadsData, raiseDataVersion } from "./stack-data.ts";
import { assertAccount } from "./stage-account.ts";
import { stoppedParts } from "./stack-parts.ts";

/** Outputs with the topics of alarms. */
const TOPICS = ["AlarmTopic", "TicketTopic"] as const;
const OWN_OPTIONS = ["drop", "stage"] as const;
/** An option that differs from one of ours in at most this many characters is a mistake, which the CDK would ignore. */
const MISTAKE_MAX = 2;

interface DeployOptions {
  readonly stage?: string;
  readonly profile?: string;
  readonly drop?: readonly string[];
}

/** Checks that no option for the CDK is one of ours misspelled. @throws SettingsError */
function assertForCdk(options: readonly string[]): void {
  const [first] = options;
  if (first !== undefined && !first.startsWith("-")) {
    throw new SettingsError(`${first}: one region at a time, and the stage as an option: --stage prod`);
  }
  for (const option of options.filter((each) => each.startsWith("--"))) {
    const [rawName = ""] = option.split("=");
    const own = OWN_OPTIONS.find((name) => distance(name, rawName.slice(2)) <= MISTAKE_MAX);
    if (own !== undefined) throw new SettingsError(`${rawName}: there is no such option; did you mean --${own}?`);
  }
}

/** The setting that a `--drop` names. @throws SettingsError */
function toDrop(name: string): Drop {
  const names = [...keptSettings, "protection", "logRole", "pause"] as const;
  const found = names.find((each) => each === name);
  if (found !== undefined) return found;
  throw new SettingsError(`--drop ${name}: there is no such setting; did you mean ${nearestTo(name, names)}?`);
}

/** Checks that a protected stack has a recipient for its alarms. @throws SettingsError */
function assertNotifies(region: RegionCode, settings: RegionSettings): void {
  const { stage, terminationProtection, alarmEmail, alarmTopic, alarms } = settings;
  if (!terminationProtection || alarmEmail !== undefined || alarmTopic !== undefined || alarms === "none") return;
  throw new SettingsError(
    `${stackNameOf(region, stage)}: no one would get its alarms; set alarmEmail, or alarmTopic of the region, ` +
      `or alarms: "none" for stage ${stage} in ${STAGES_FILE}`,
  );
}

/** Checks that a stack isn't paused: a deployment would start parts of it. @throws SettingsError */
async function assertRuns(address: StackAddress, region: RegionCode): Promise<void> {
  const { stackName } = address;
  const stopped = await stoppedParts(address).catch(({ name, message }: Error) => {
    throw new SettingsError(
      `${stackName}: can't see whether it is paused (${name}: ${message}); add --drop pause if not`,
    );
  });
  if (stopped.length === 0) return;
  throw new SettingsError(
    `${stackName}: it is paused (${stopped.length} parts, such as ${stopped[0]}); first npm run resume -- ${region}, or add --drop pause`,
  );
}

/**
 * Compares the stage's settings with what is deployed and what the account has, and then runs the CDK.
 * @param args the region, and options for `cdk deploy`
 * @throws SettingsError
 */
async function deploy(
  terminal: Terminal,
  [region, ...others]: readonly string[],
  options: DeployOptions,
): Promise<void> {
  if (region === undefined || region.startsWith("-")) {
    const commands = regionCodes.map((code) => `npm run deploy -- ${code}`);
    throw new SettingsError(`name the region to deploy: ${commands.join(", or ")}`);
  }
  assertForCdk(others);
  const { stage: named, profile, drop = [] } = options;
  const drops = drop.map(toDrop);
  const cdkOptions = [
    ...others,
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(named === undefined ? [] : ["-c", `stage=${named}`]),
  ];
  const { stage, regions } = parseSettings({ ...projectContext(), ...contextOf(cdkOptions), region }, stages);
  for (const [code, settings] of regions) assertNotifies(code, settings);
  for (const [code, settings] of regions) {
    const address = { stackName: stackNameOf(code, stage), region: settings.awsRegion, profile };
    await assertAccount(address, settings);
    const outputs = await checkDeployedStack(address, settings, drops);
    if (outputs.size > 0 && !drops.includes("pause")) await assertRuns(address, code);
    const topics = TOPICS.flatMap((output) => outputs.get(output) ?? []);
    await assertReadsData(address, code, outputs);
    await checkAccount(terminal, address, settings, { drops, topics });
    const stack = stackIdOf(code);
    const cdk = spawn(
      process.execPath,
      [join(PROJECT_ROOT, "node_modules/aws-cdk/bin/cdk"), "deploy", stack, "-c", `region=${code}`, ...cdkOptions],
      {
        cwd: PROJECT_ROOT,
        stdio: "inherit",
        env: terminal.env,
      },
    );
    const [status] = (await once(cdk, "close")) as [number | null];
    if (status === 0) await raiseDataVersion(address, code);
    else terminal.exitCode = status ?? 1;
  }
}

/** `npm run deploy`. @returns the exit status */
export function deployCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(
    terminal,
    "npm run deploy --",
    "Deploy a region, unless that would remove something that is deployed",
  );
  program
    .usage("<region> [options] [options of cdk deploy]")
    .option("--stage <stage>", "stage to deploy, such as prod")
    .option("--profile <profile>", "profile of the AWS configuration files")
    .option(
      "--drop <setting>",
      "setting that may be removed, such as firewall; can be repeated",
      (name, before?: readonly string[]) => [...(before ?? []), name],
    )
    .allowUnknownOption()
    .allowExcessArguments()
    .action((options: DeployOptions) => deploy(terminal, program.args, options));
  return runCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(deployCommand);
