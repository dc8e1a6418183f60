import { CloudFormationClient, GetTemplateCommand, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { GetEventSourceMappingCommand, GetFunctionConcurrencyCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { gatewayFunctions } from "../../../functions/routes.ts";
import { allWorkers } from "../../../functions/workers.ts";
import { changesData } from "@work-items/lib/aws/permissions.ts";
import { clientOptionsOf, type StackAddress } from "./deployed-stack.ts";

/** A resource of a deployed template. */
interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** The resources of a deployed template, by their logical ids. */
async function templateResources(address: StackAddress): Promise<Readonly<Record<string, TemplateResource>>> {
  const client = new CloudFormationClient(clientOptionsOf(address));
  const { TemplateBody: body = "{}" } = await client.send(new GetTemplateCommand({ StackName: address.stackName }));
  return (JSON.parse(body) as { readonly Resources?: Record<string, TemplateResource> }).Resources ?? {};
}

/** Functions that change nothing. One that this checkout doesn't know is taken for a writer. */
const readers = new Set(
  [...gatewayFunctions(), ...allWorkers].flatMap((each) => (changesData(each.permissions) ? [] : each.name)),
);

/** What of a deployed stack starts functions, and which functions write, by the names that AWS knows them by. */
export async function partsOf(address: StackAddress) {
  const { stackName } = address;
  const template = await templateResources(address);
  const parts: { name: string; type: string; properties: Readonly<Record<string, unknown>> }[] = [];
  const client = new CloudFormationClient(clientOptionsOf(address));
  for await (const { StackResourceSummaries: summaries = [] } of paginateListStackResources(
    { client },
    { StackName: stackName },
  )) {
    for (const { LogicalResourceId: id = "", PhysicalResourceId: name = "", ResourceType: type = "" } of summaries)
      parts.push({ name, type, properties: template[id]?.Properties ?? {} });
  }
  const functions = parts.filter(({ type }) => type === "AWS::Lambda::Function");
  return {
    /** Rules with a schedule. */
    rules: parts.flatMap(({ name, type, properties }) =>
      type === "AWS::Events::Rule" && properties["ScheduleExpression"] !== undefined ? [name] : [],
    ),
    eventSources: parts.flatMap(({ name, type }) => (type === "AWS::Lambda::EventSourceMapping" ? [name] : [])),
    /** Each with its reserved concurrency in the template. */
    writers: functions
      .filter(({ name }) => !readers.has(name.slice(stackName.length + 1)))
      .map(({ name, properties }) => ({
        name,
        reserved: properties["ReservedConcurrentExecutions"] as number | undefined,
      })),
    /** The longest that a run may take. */
    longestSeconds: Math.max(0, ...functions.map(({ properties }) => Number(properties["Timeout"]))),
  };
}

/** What of a stack `npm run pause` has stopped. */
export async function stoppedParts(address: StackAddress): Promise<readonly string[]> {
  const lambda = new LambdaClient(clientOptionsOf(address));
  const { eventSources, writers } = await partsOf(address);
  const stopped = [
    ...eventSources.map(async (UUID) => {
      const { State: state = "" } = await lambda.send(new GetEventSourceMappingCommand({ UUID }));
      return state.startsWith("Disabl") ? [UUID] : [];
    }),
    ...writers.map(async ({ name }) => {
      const found = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName: name }));
      return found.ReservedConcurrentExecutions === 0 ? [name] : [];
    }),
  ];
  return (await Promise.all(stopped)).flat();
}
