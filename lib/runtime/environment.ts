import * as z from "zod";
import { regionCodeSchema } from "../regions.ts";
import { type ResourceName, resources, type Resources } from "../resources.ts";
import { describeProblems, problemsOf } from "../schema-problems.ts";
import type { Permissions } from "./permissions.ts";

/** Variables of every function, whatever it may do. */
const commonSchema = z.object({
  /** Which regional deployment this is; part of every API key. */
  REGION_CODE: regionCodeSchema,
  /** S3 path style, for embedded engines and LocalStack. */
  S3_FORCE_PATH_STYLE: z.stringbool().default(false),
});

/** What the environment says: the common variables, and the name of each resource that is permitted. */
export type Environment<P extends Permissions = Permissions> = z.output<typeof commonSchema> & {
  readonly [N in ResourceName as N extends keyof P ? Resources[N]["variable"] : never]: string;
};

/**
 * Parses the environment once, at the start of a function.
 * @throws Error naming every missing or malformed variable in one message.
 */
export const parseEnvironment = <const P extends Permissions>(
  permissions: P,
  variables: Readonly<Record<string, string | undefined>>,
): Environment<P> => {
  const named = (Object.keys(permissions) as ResourceName[]).map((name) => resources[name].variable);
  const schema = commonSchema.extend(Object.fromEntries(named.map((variable) => [variable, z.string().min(1)])));
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data as Environment<P>;
  throw new Error(`environment: ${describeProblems(problemsOf(parsed.error), "environment")}`);
};
