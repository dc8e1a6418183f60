import { dirname } from "node:path";
import { createCommandLine, runCommand } from "../command-line.ts";
import { localFiles, readEnvironmentFile } from "../environment-file.ts";
import { preparationsOf, readEvent } from "./invoke-event.ts";
import { createLambdaFunction } from "./lambda/lambda-function.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { platformVariables } from "./platform.ts";
import { synthesize } from "./synthesis.ts";
import { ResolvedTemplate } from "./template.ts";
import { functionsOf } from "./lambda/template-functions.ts";

/** Runs a function once, with its log on the standard error. */
async function invokeOnce(definition: Parameters<typeof createLambdaFunction>[0], payload: string) {
  const target = createLambdaFunction(definition, [process.stderr.fd]);
  try {
    return await target.invoke(payload);
  } finally {
    await target.stop();
  }
}

async function invoke(name: string, eventFile: string): Promise<void> {
  const files = localFiles();
  const variables = readEnvironmentFile(files.stack);
  const key = process.env["API_KEY"] ?? readEnvironmentFile(files.service)["API_KEY"];
  const payload = readEvent(eventFile, key);
  const endpoint = (service: string): string => variables[`AWS_ENDPOINT_URL_${service}`] ?? "";
  const endpoints = { dynamodb: endpoint("DYNAMODB"), s3: endpoint("S3"), sqs: endpoint("SQS") };
  if (!(await fetch(`${endpoints.sqs}/health`).catch(() => undefined))?.ok) {
    throw new LocalStackError(`no local stack runs on ${dirname(files.stack)}: start one with npm start`);
  }
  const { template: raw, stackName, region, directory } = await synthesize();
  const template = new ResolvedTemplate({ template: raw, stackName, region, sqsEndpoint: endpoints.sqs });
  const definitions = functionsOf(template, directory, platformVariables(region, endpoints));
  const find = (wanted: string) =>
    definitions.find((one) => one.name === wanted || one.name === `${stackName}-${wanted}`);
  const definition = find(name);
  if (definition === undefined) {
    const names = definitions.map((one) => one.name.slice(stackName.length + 1));
    throw new LocalStackError(`the template has no function ${name}; name one of ${names.join(", ")}`);
  }
  for (const [first, file] of preparationsOf(eventFile)) {
    const preparing = find(first);
    if (preparing !== undefined) await invokeOnce(preparing, readEvent(file, variables["API_KEY"]));
  }
  const invocation = await invokeOnce(definition, payload);
  const result: unknown = invocation.ok ? JSON.parse(invocation.payload) : invocation.error;
  console.log(JSON.stringify(result, undefined, 2));
  process.exitCode = invocation.ok ? 0 : 1;
}

const program = createCommandLine("npm run invoke --", "Invoke one function of the template on a running local stack");
program
  .argument("<function>", "such as get-work-item")
  .argument("<event.json>", "file with its event, such as events/get-work-item.json")
  .action(invoke);
await runCommand(program);
