import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from "@aws-sdk/client-eventbridge";
import {
  DeleteFunctionConcurrencyCommand,
  GetEventSourceMappingCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { CommandError, createCommandLine } from "@work-items/terminal/command-line.ts";
import { workerTimeoutSeconds } from "../../../infra/limits.ts";
import { DEFAULT_STAGE } from "../../../infra/settings/settings.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { regionCodesInWords } from "@work-items/lib/regions.ts";
import { clientOptionsOf, type StackAddress } from "./deployed-stack.ts";
import { partsOf } from "./stack-parts.ts";
import { stackOf } from "./stack-variables.ts";
import { runOperatorCommand } from "./target-tables.ts";

const POLL_MS = 5000;
/** Lambda takes a minute or so. */
const POLLS_MAX = 120;
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html */
const STREAM_HOURS = 24;
/** The longest call of the gateway or of another system. */
const CALL_SECONDS = workerTimeoutSeconds({ kind: "direct" });

/** Switches event sources on or off, and waits until Lambda has done so. @returns when the last one changed */
async function switchSources(
  terminal: Terminal,
  lambda: LambdaClient,
  sources: readonly string[],
  state: "Enabled" | "Disabled",
): Promise<number> {
  const stateOf = (UUID: string) => lambda.send(new GetEventSourceMappingCommand({ UUID }));
  for (const UUID of sources) {
    if ((await stateOf(UUID)).State === state) continue;
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: state === "Enabled" }));
  }
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const found = await Promise.all(sources.map(stateOf));
    if (found.every(({ State: is }) => is === state))
      return Math.max(0, ...found.map(({ LastModified: changed }) => changed?.getTime() ?? terminal.clock()));
    await terminal.sleep(POLL_MS);
  }
  throw new CommandError(`some event sources don't become ${state}; run the command again`);
}

/** Stops everything that writes, in the order in which nothing is lost. It can be repeated. */
async function pause(terminal: Terminal, address: StackAddress, others: string): Promise<void> {
  const { stackName } = address;
  const { rules, eventSources, writers, longestSeconds } = await partsOf(address);
  const lambda = new LambdaClient(clientOptionsOf(address));
  const events = new EventBridgeClient(clientOptionsOf(address));
  for (const Name of rules) await events.send(new DisableRuleCommand({ Name }));
  const since = await switchSources(terminal, lambda, eventSources, "Disabled");
  const ended = since + 1000 * longestSeconds;
  terminal.print(
    `${stackName}: ${rules.length} rules and ${eventSources.length} event sources are off; what runs ends by ${isoTime(ended)}`,
  );
  await terminal.sleep(Math.max(0, ended - terminal.clock()));
  // With 0, Lambda rejects all calls (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html), and the
  // gateway responds with 503.
  for (const { name } of writers)
    await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName: name, ReservedConcurrentExecutions: 0 }));
  await terminal.sleep(1000 * CALL_SECONDS);
  terminal.print(
    `${stackName}: paused. ${writers.length} functions are stopped, and calls that write get a 503. The stream keeps records for ` +
      `${STREAM_HOURS} hours: by ${isoTime(since + STREAM_HOURS * 60 * 60 * 1000)}, npm run resume -- ${others}`,
  );
}

/** Sets what the stack's template says, in the opposite order. It can be repeated. */
async function resume(terminal: Terminal, address: StackAddress): Promise<void> {
  const { rules, eventSources, writers } = await partsOf(address);
  const lambda = new LambdaClient(clientOptionsOf(address));
  const events = new EventBridgeClient(clientOptionsOf(address));
  for (const { name: FunctionName, reserved: ReservedConcurrentExecutions } of writers) {
    if (ReservedConcurrentExecutions === undefined)
      await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
    else await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
  }
  await switchSources(terminal, lambda, eventSources, "Enabled");
  for (const Name of rules) await events.send(new EnableRuleCommand({ Name }));
  terminal.print(`${address.stackName}: runs as its template says`);
}

function commandOf(
  name: "pause" | "resume",
  description: string,
  run: (terminal: Terminal, address: StackAddress, others: string) => Promise<void>,
) {
  return (terminal: Terminal): Promise<number> => {
    const program = createCommandLine(terminal, `npm run ${name} --`, description);
    program
      .argument("<region>", regionCodesInWords)
      .option("--stage <stage>", "stage, such as prod", DEFAULT_STAGE)
      .action(async (region: string, { stage }: { readonly stage: string }) =>
        run(terminal, await stackOf(stage, region), `${region} --stage ${stage}`),
      );
    return runOperatorCommand(terminal, program);
  };
}

/** `npm run pause`. */
export const pauseCommand = commandOf("pause", "Stop a deployed region from writing", pause);
/** `npm run resume`. */
export const resumeCommand = commandOf("resume", "Let a paused region run as its template says", resume);

if (import.meta.main) await runAsProgram(pauseCommand);
