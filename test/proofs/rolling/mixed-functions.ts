import type { Synthesis } from "../../../infra/local/synthesis.ts";
import type { FunctionDefinition } from "../../../infra/local/lambda/instance.ts";
import { createLambdaFunction, type LambdaFunction } from "../../../infra/local/lambda/lambda-function.ts";
import { ResolvedTemplate } from "../../../infra/local/template.ts";
import { functionsOf } from "../../../infra/local/lambda/template-functions.ts";

/** The two versions of a rolling deployment. */
export type Side = "older" | "newer";

/** Variables that Lambda or the local stack sets, whatever the template says. */
const PLATFORM = /^(AWS_|S3_FORCE_PATH_STYLE$)/;

/** Variables that name what both versions keep their data in. A deployment that changes one would start without data. */
const STATE = /_(TABLE|BUCKET|QUEUE_URL)$/;

function assertSameState(older: FunctionDefinition, newer: FunctionDefinition): void {
  for (const [name, value] of Object.entries(older.environment)) {
    const now = newer.environment[name];
    if (STATE.test(name) && now !== undefined && now !== value) {
      throw new Error(`${newer.name}: the newer template replaces ${name} ${value} by ${now}`);
    }
  }
}

/**
 * Makes functions that serve each invocation by their older or their newer version. The template is the newer one, as
 * CloudFormation changes queues and routes while functions of both versions run. Each version has its own variables.
 * A function that only the newer template has is served by that.
 * @param choose called once for each invocation of a function that both have
 * @param onServed called once for each invocation
 */
export function createMixedFunctions(older: Synthesis, choose: () => Side, onServed: (side: Side) => void) {
  let known: ReadonlyMap<string, FunctionDefinition> | undefined;
  const definitionsOf = ({ environment }: FunctionDefinition): ReadonlyMap<string, FunctionDefinition> => {
    const sqsEndpoint = environment["AWS_ENDPOINT_URL_SQS"] ?? "";
    const { template, stackName, region, directory } = older;
    const resolved = new ResolvedTemplate({ template, stackName, region, sqsEndpoint });
    const platform = Object.fromEntries(Object.entries(environment).filter(([name]) => PLATFORM.test(name)));
    return new Map(functionsOf(resolved, directory, platform).map((definition) => [definition.name, definition]));
  };

  return (definition: FunctionDefinition, log: readonly number[]): LambdaFunction => {
    known ??= definitionsOf(definition);
    const previous = known.get(definition.name);
    const versions: Partial<Record<Side, LambdaFunction>> & { readonly newer: LambdaFunction } = {
      newer: createLambdaFunction(definition, log),
    };
    if (previous !== undefined) {
      assertSameState(previous, definition);
      versions.older = createLambdaFunction(previous, log);
    }
    return {
      name: definition.name,
      invoke: (payload, requestId) => {
        const side = versions.older === undefined ? "newer" : choose();
        onServed(side);
        return (versions[side] ?? versions.newer).invoke(payload, requestId);
      },
      stop: async () => {
        await Promise.all(Object.values(versions).map((version) => version.stop()));
      },
    };
  };
}
