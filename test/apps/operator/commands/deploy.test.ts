import { describe, expect, onTestFinished, test, vi } from "vitest";
import { deployCommand } from "../../../../apps/operator/commands/deploy.ts";
import { checkAccount } from "../../../../apps/operator/commands/account-check.ts";
import { checkDeployedStack, type Drop } from "../../../../apps/operator/commands/deployed-stack.ts";
import { keysCommand } from "../../../../apps/operator/commands/keys.ts";
import { assertAccount } from "../../../../apps/operator/commands/stage-account.ts";
import { lossesOf, tagsOf } from "../../../../infra/settings/setting-tags.ts";
import { parseSettings } from "../../../../infra/settings/settings.ts";
import type { StageSettings } from "../../../../infra/settings/stage-settings.ts";
import { regionCodes } from "../../../../lib/regions.ts";
import { type AwsAccount, type DeployedStack, startAwsAccount } from "../../../support/aws-account.ts";
import { runScript } from "../../../support/run-script.ts";
import { runCommand, testTerminal } from "../../../support/terminal.ts";
import { EVERY_SETTING } from "../../../infra/every-setting.ts";
import { assemblyOf } from "../../../infra/synthesized.ts";

const linesOf = ({
  status,
  out,
  error,
}: {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}) => ({
  status,
  lines: `${out}${error}`.split("\n").filter((line) => line.trim() !== ""),
});

/** Deploys without credentials. */
const run = async (options: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
  const { PATH = "", HOME = "" } = process.env;
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return linesOf(await runCommand(deployCommand, options, { env: { PATH, HOME, ...variables } }));
};

const account = async (...given: Parameters<typeof startAwsAccount>): Promise<AwsAccount> => {
  const started = await startAwsAccount(...given);
  onTestFinished(() => started.close());
  return started;
};

const noStage = "-c stage=production: there is no such stage; did you mean prod? There are dev, prod";

describe("a rejection is one line and exit 1", () => {
  test.each([
    [[], `name the region to deploy: ${regionCodes.map((code) => `npm run deploy -- ${code}`).join(", or ")}`],
    [["uss"], `-c region=uss: there is no such region; did you mean us? There are ${regionCodes.join(", ")}`],
    [["us", "-c", "stage=production"], noStage],
    [["us", "--stage", "production"], noStage],
    [["us", "--stage=production"], noStage],
    [["us", "--stagee", "prod"], "--stagee: there is no such option; did you mean --stage?"],
    [
      ["us", "--stage", "prod"],
      "WorkItems-us-prod: no one would get its alarms; set alarmEmail, or alarmTopic of the region, " +
        'or alarms: "none" for stage prod in infra/stages.ts',
    ],
    [["us", "--stage"], "option '--stage <stage>' argument missing"],
    [["us", "--drop"], "option '--drop <setting>' argument missing"],
    [["us", "prod"], "prod: one region at a time, and the stage as an option: --stage prod"],
    [["us", "--drop", "domains"], "--drop domains: there is no such setting; did you mean domain?"],
  ])("npm run deploy -- %j", async (options, line) => {
    expect(await run(options)).toEqual({ status: 1, lines: [line] });
  });

  test("of the CDK's app too", async () => {
    expect(linesOf(await runScript("infra/cdk-app.ts", ["-c", "stage=production"]))).toEqual({
      status: 1,
      lines: [noStage],
    });
  });
});

test("the CDK says what is missing in an account that isn't bootstrapped, and its status is the command's", async () => {
  const { variables } = await account();
  const { directory } = assemblyOf();
  const args = ["us", "--app", directory, "--require-approval", "never", "--drop", "domain"];
  const done = linesOf(await runScript("apps/operator/commands/deploy.ts", args, { env: variables }));
  const line = expect.stringContaining("Has the environment been bootstrapped? Please run 'cdk bootstrap'") as string;
  expect(done).toEqual({ status: 1, lines: expect.arrayContaining([line]) });
});

const stackName = "WorkItems-us-prod";
const full = { ...EVERY_SETTING, gatewayLogRole: "existing" } as const;
const small: StageSettings = { ...full, concurrency: {}, smallAccount: true };
const { alarmTopic, backup, domain } = full.regions.us;
const settingsOf = (prod: StageSettings) => {
  const settings = parseSettings({ stage: "prod", region: "us" }, { prod }).regions.get("us");
  if (settings === undefined) throw new Error("no region us");
  return settings;
};
const deployedWith = (prod: StageSettings): DeployedStack => ({
  status: "UPDATE_COMPLETE",
  tags: tagsOf(settingsOf(prod)),
  terminationProtection: true,
});

/** Compares settings with what an account has deployed. @returns what the account was asked to change */
const check = async (
  stack: DeployedStack | undefined,
  next: StageSettings,
  drops: readonly Drop[] = [],
  tables: Parameters<typeof account>[1] = {},
) => {
  const { variables, changes } = await account(stack && { [stackName]: stack }, tables);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  await checkDeployedStack({ stackName, region: "us-east-1", profile: undefined }, settingsOf(next), drops);
  return changes;
};

describe("the account of a stage", () => {
  /** Whose credentials are those of the account 111122223333. */
  const assertOwn = async (settings: StageSettings) => {
    const { variables } = await account();
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    return assertAccount({ stackName, region: "us-east-1", profile: undefined }, settingsOf(settings));
  };

  test("is that of the credentials, or nothing is done", async () => {
    await assertOwn(full);
    await expect(assertOwn({ ...full, account: "999988887777" })).rejects.toThrow(
      `${stackName}: your credentials are of account 111122223333, and stage prod is in 999988887777 (account in infra/stages.ts)`,
    );
  });

  test("is named by a stage that is protected", async () => {
    const unnamed: StageSettings = { ...full, account: undefined };
    await expect(assertOwn(unnamed)).rejects.toThrow(/: set account for stage prod in infra\/stages\.ts; /);
    await assertOwn({ ...unnamed, terminationProtection: false });
  });

  test("is asked before a command reads the stack", async () => {
    const listing = await runCommand(keysCommand, ["list", "--stage", "prod", "--region", "us"], { env: {} });
    expect(linesOf(listing)).toEqual({
      status: 1,
      lines: [expect.stringMatching(/^WorkItems-us-prod: it is protected, so it must name its account: /)],
    });
  });

  test("is in the template, so that the CDK stops too", () => {
    expect(assemblyOf(full, { region: "us" }).getStackArtifact("WorkItems-us").environment).toMatchObject({
      account: full.account,
      region: "us-east-1",
    });
  });
});

describe("a deployment", () => {
  test.each([
    ["of a stack that is not there", undefined],
    ["of a stack of which nothing was made yet", { status: "REVIEW_IN_PROGRESS" }],
    ["of the same settings", deployedWith(full)],
    ["of more than is deployed", deployedWith({ regions: { us: {} } })],
  ])("%s continues", async (_, stack) => {
    expect(await check(stack, full)).toEqual([]);
  });

  test.each([...Object.keys(full).filter((name) => !["account", "regions"].includes(name)), "smallAccount"])(
    "that lacks %s loses it",
    (name) => {
      const deployed = name === "smallAccount" ? small : full;
      const less = Object.fromEntries(Object.entries(deployed).filter(([each]) => each !== name));
      expect(lossesOf(tagsOf(settingsOf(deployed)), settingsOf(less))).not.toEqual([]);
    },
  );

  test.each<[string, Partial<StageSettings>, string]>([
    ["alarmEmail", { alarmEmail: undefined }, "drop alarmEmail"],
    ["allowedOrigins", { allowedOrigins: ["https://b.example.com"] }, "drop allowedOrigins https://a.example.com"],
    ["firewall", { firewall: false }, "drop firewall"],
    ["firewall", { firewall: "count" }, "drop firewall"],
    ["terminationProtection", { terminationProtection: false }, "drop terminationProtection"],
    ["logDays", { logDays: 7 }, "lower logDays from 90 to 7"],
    ["throttleReads", { throttle: { ...full.throttle, reads: 5000 } }, "lower throttleReads from 8000 to 5000"],
    ["throttlePages", { throttle: { ...full.throttle, pages: 1 } }, "lower throttlePages from 700 to 1"],
    ["concurrency", { concurrency: {} }, "drop concurrency"],
    ["customerKey", { customerKey: false }, "drop customerKey"],
    [
      "domain",
      { regions: { us: { ...full.regions.us, domain: { ...domain, host: "api.example.com" } } } },
      "drop domain us.example.com",
    ],
    ["alarmTopic", { regions: { us: { backup, domain } } }, `drop alarmTopic ${alarmTopic}`],
    ["zone", { regions: { us: { ...full.regions.us, domain: { ...domain, zone: undefined } } } }, "drop zone Z1"],
  ])("that would lose %s by %j stops, unless that is allowed", async (setting, change, loss) => {
    const next = { ...full, ...change };
    await expect(check(deployedWith(full), next)).rejects.toThrow(
      `${stackName}: this deployment would ${loss}; restore stage prod in infra/stages.ts, or add --drop ${setting}`,
    );
    expect(await check(deployedWith(full), next, [setting as Drop])).toEqual([]);
  });

  test("keeps reading the stream of a table that was restored", async () => {
    const stream = "arn:aws:dynamodb:us-east-1:111122223333:table/items/stream/2026-11-27T00:00:00.000";
    const restored = { ...full, regions: { us: { ...full.regions.us, stream } } };
    expect(await check(deployedWith(restored), restored)).toEqual([]);
    await expect(check(deployedWith(restored), full)).rejects.toThrow(`drop stream ${stream}; `);
  });

  test("that would take the domain away takes its record too", async () => {
    await expect(check(deployedWith(full), { ...full, regions: { us: { alarmTopic, backup } } })).rejects.toThrow(
      /would drop domain us.example.com, drop zone Z1; .* add --drop domain --drop zone$/,
    );
  });

  test("stops if the protection of a table was switched off, and says how to switch it on", async () => {
    const outputs = { WorkItemsTable: "items-1", AccessTable: "access-1" };
    const stack = { ...deployedWith(full), outputs };
    const tables = {
      "items-1": { deletion: false, recovery: true },
      "access-1": { deletion: true, recovery: false },
    };
    const refused = check(stack, full, [], tables);
    await expect(refused).rejects.toThrow(
      /items-1 has no deletion protection: aws dynamodb update-table --table-name items-1 --deletion-protection-enabled\n/,
    );
    await expect(refused).rejects.toThrow(
      /access-1 has no point-in-time recovery: .*--table-name access-1 .*--drop protection$/s,
    );
    expect(await check(stack, full, ["protection"], tables)).toEqual([]);
    expect(await check(stack, full)).toEqual([]);
  });

  test("stops if the ledger of erasures has no replica beside the copies of backups", async () => {
    const outputs = { WorkItemsTable: "items-1", AuditTable: "audit-1" };
    const protection = { deletion: true, recovery: true, stream: true };
    const deploy = (settings: StageSettings, replicas: readonly string[], stream = true) => {
      const tables = { "items-1": protection, "audit-1": { ...protection, stream, replicas } };
      return check({ ...deployedWith(settings), outputs }, settings, [], tables);
    };
    const command = "aws dynamodb update-table --table-name audit-1 --replica-updates";
    await expect(deploy(full, ["us-east-2"])).rejects.toThrow(
      `${stackName}: audit-1 has no replica in us-west-2: ${command} ` +
        `'[{"Create":{"RegionName":"us-west-2","KMSMasterKeyId":"<ARN of a key in us-west-2>"}}]'\nThen deploy again`,
    );
    const ownKeys: StageSettings = { ...full, customerKey: false };
    await expect(deploy(ownKeys, [])).rejects.toThrow(`${command} '[{"Create":{"RegionName":"us-west-2"}}]'\n`);
    expect(await deploy(full, ["us-west-2"])).toEqual([]);
    // This deployment gives the table the stream that a replica needs.
    expect(await deploy(full, [], false)).toEqual([]);
    expect(await deploy({ ...full, regions: { us: { domain } } }, [])).toEqual([]);
  });

  test("of one stage never becomes an update of another's stack", async () => {
    const stack = { ...deployedWith(full), tags: { ...tagsOf(settingsOf(full)), stage: "staging" } };
    await expect(check(stack, full)).rejects.toThrow(
      `${stackName}: stage staging is deployed there, and this deployment would make it prod; ` +
        "name that stage (--stage staging)",
    );
  });

  test("names everything that it would lose in one line, and continues only if all of it is given up", async () => {
    const next = { ...full, alarmEmail: undefined, firewall: false };
    const message = /would drop alarmEmail, drop firewall; .* add --drop alarmEmail --drop firewall$/;
    await expect(check(deployedWith(full), next)).rejects.toThrow(message);
    await expect(check(deployedWith(full), next, ["firewall"])).rejects.toThrow(/would drop alarmEmail; /);
    expect(await check(deployedWith(full), next, ["alarmEmail", "firewall"])).toEqual([]);
  });

  test("leaves tags that CloudFormation takes, and no address of a person", () => {
    const tags = Object.entries(tagsOf(settingsOf(full)));
    expect(tags.length).toBeLessThanOrEqual(50);
    for (const tag of tags) {
      for (const text of tag) expect(text).toMatch(/^[\w .:/=+@-]{1,256}$/);
    }
    expect(JSON.stringify(tags)).not.toContain("on-call");
  });

  test("stops where there are no tags of an earlier deployment", async () => {
    const untagged = { status: "UPDATE_COMPLETE" };
    await expect(check(untagged, full)).rejects.toThrow(
      /has no tags of an earlier deployment, so this one could remove something/,
    );
  });

  test("after a failed first one lifts the protection of the leftovers, which nothing uses", async () => {
    const failed = { status: "ROLLBACK_COMPLETE", terminationProtection: true };
    expect(await check(failed, full)).toEqual([
      expect.objectContaining({ StackName: stackName, EnableTerminationProtection: "false" }),
    ]);
    expect(await check({ ...failed, terminationProtection: false }, full)).toEqual([]);
  });

  test("doesn't lift the protection of a stack that was ever deployed", async () => {
    const failedUpdate = { ...deployedWith(full), status: "UPDATE_ROLLBACK_COMPLETE" };
    expect(await check(failedUpdate, full)).toEqual([]);
  });

  test("stops with one line where it can't read what is deployed", async () => {
    const { variables } = await account();
    const nowhere = { ...variables, AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
    const { status, lines } = await run(["us"], nowhere);
    expect([status, lines]).toEqual([1, [expect.stringMatching(/^WorkItems-us: can't read what is deployed, /)]]);
  });
});

describe("before it deploys, deploy asks the account", () => {
  const topic = "arn:aws:sns:us-east-1:111122223333:alarms";
  /** What the checks of an account say about settings: notes, and the reason why the deployment stops. */
  const ask = async (
    facts: NonNullable<Parameters<typeof startAwsAccount>[2]>,
    next: StageSettings = full,
    drops: readonly Drop[] = [],
  ) => {
    const { variables } = await account({}, {}, facts);
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { terminal, printed } = testTerminal([]);
    const address = { stackName, region: "us-east-1", profile: undefined };
    const stopped = await checkAccount(terminal, address, settingsOf(next), { drops, topics: [topic] }).then(
      () => undefined,
      ({ message }: Error) => message,
    );
    return { stopped, notes: printed.stderr };
  };
  const own = { ...full, gatewayLogRole: undefined };
  const theirs = "arn:aws:iam::111122223333:role/api-logs";
  const ours = "arn:aws:iam::111122223333:role/WorkItems-eu-ApiRestApiCloudWatchRole-1";

  test("whether enough executions can run at once, and proposes smallAccount", async () => {
    const many = { ...full, concurrency: {} };
    const { stopped } = await ask({ concurrentExecutions: 10, logRole: theirs }, many);
    expect(stopped).toMatch(
      /^WorkItems-us-prod: the account has 10 concurrent executions in us-east-1, and the queues can take 80: /,
    );
    expect(stopped).toContain(
      "set smallAccount: true for stage prod in infra/stages.ts, or request more: aws service-quotas ",
    );
    const enough = { stopped: undefined, notes: "" };
    expect(await ask({ concurrentExecutions: 10, logRole: theirs }, small)).toEqual(enough);
    expect(await ask({ concurrentExecutions: 180, logRole: theirs }, many)).toEqual(enough);
    expect((await ask({ concurrentExecutions: 179, logRole: theirs }, many)).stopped).toMatch(/ has 179 concurrent /);
    expect(await ask({ concurrentExecutions: 108, logRole: theirs }, { ...full, concurrency: { workers: 2 } })).toEqual(
      enough,
    );
  });

  test("whether another team's role for the gateway's logs would be replaced, or there is none to keep", async () => {
    const { stopped } = await ask({ logRole: theirs }, own);
    expect(stopped).toBe(
      `WorkItems-us-prod: this deployment would replace ${theirs}, by which all APIs of the account write logs in us-east-1; ` +
        'set gatewayLogRole: "existing" for stage prod in infra/stages.ts, or add --drop logRole',
    );
    expect((await ask({}, full)).stopped).toMatch(/: API Gateway has no role for logs in us-east-1, /);
    const fine = { stopped: undefined, notes: "" };
    expect(await ask({ logRole: theirs }, own, ["logRole"])).toEqual(fine);
    expect(await ask({ logRole: ours }, own)).toEqual(fine);
    expect(await ask({}, own)).toEqual(fine);
  });

  test("who hasn't confirmed the subscription to its alarms, and continues", async () => {
    const subscriptions = { [topic]: { "on-call@example.com": false, "later@example.com": true } };
    const { stopped, notes } = await ask({ subscriptions }, own);
    expect([stopped, notes]).toEqual([
      undefined,
      expect.stringMatching(/^WorkItems-us-prod: on-call@example\.com gets no alarms yet: [^\n]+\n$/),
    ]);
  });

  test("and notes what it may not ask", async () => {
    const { stopped, notes } = await ask({ denied: ["/2016-08-19/account-settings", "/account"] }, own);
    expect(stopped).toBe(undefined);
    expect(notes.trim().split("\n")).toEqual([
      expect.stringMatching(/the account's concurrent executions can't be checked: AccessDeniedException: /),
      expect.stringMatching(/the account's role for API Gateway's logs can't be checked: AccessDeniedException: /),
    ]);
  });

  test("with the command, too", async () => {
    const { variables } = await account({}, {}, { concurrentExecutions: 10 });
    const { status, lines } = await run(["us"], variables);
    expect([status, lines]).toEqual([1, [expect.stringMatching(/^WorkItems-us: the account has 10 concurrent/)]]);
  });
});
