import { onTestFinished, vi } from "vitest";
import { tagsOf } from "../../infra/settings/setting-tags.ts";
import { parseSettings } from "../../infra/settings/settings.ts";
import { stages } from "../../infra/stages.ts";
import { resourcesOf, synthesize } from "../infra/synthesized.ts";
import { startAwsAccount } from "./aws-account.ts";
import { testTerminal } from "./terminal.ts";

/** Functions of writers have a reserved concurrency here. */
const template = synthesize({ concurrency: { writes: 50 } }).us;
const functions = resourcesOf(template, "AWS::Lambda::Function").map(([, properties]) => properties);

/** Its rules with a schedule, its event sources, and the reserved concurrency of its functions, as the template says. */
export const regionInTemplate = {
  rules: resourcesOf(template, "AWS::Events::Rule").map(([id]) => id),
  sources: resourcesOf(template, "AWS::Lambda::EventSourceMapping").map(([id]) => id),
  reserved: new Map(
    functions.map((each) => [String(each["FunctionName"]), each["ReservedConcurrentExecutions"] as number | undefined]),
  ),
  longestSeconds: Math.max(...functions.map((each) => Number(each["Timeout"]))),
};

/** The region `us` of `dev`, deployed in an account in which ten functions may run at once. */
export const startDeployedRegion = async () => {
  const { terminal, printed } = testTerminal([]);
  const account = await startAwsAccount(
    {
      "WorkItems-us": {
        status: "UPDATE_COMPLETE",
        tags: tagsOf(parseSettings({ region: "us" }, stages).regions.get("us")!),
        template: JSON.stringify(template),
        outputs: { ApiUrl: "https://us.example.com" },
      },
    },
    {},
    { clock: terminal.clock, concurrentExecutions: 10 },
  );
  for (const [name, value] of Object.entries(account.variables)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    account.close();
  });
  return { ...account.running, terminal, printed };
};
