import * as z from "zod";
import { regionCodeSchema } from "../regions.ts";
import { type ResourceName, resources, type Resources } from "../resources.ts";
import { describeProblems } from "../errors.ts";
import { problemsOf } from "../schema.ts";
import type { Permissions } from "./permissions.ts";

/** Variables that every function has. */
const commonSchema = z.object({
  /** Code of the regional deployment, which its API keys contain. */
  REGION_CODE: regionCodeSchema,
  /** Version of the service. */
  VERSION: z.string(),
  /** Whether S3 is addressed in path style, for the embedded engines and LocalStack. */
  S3_FORCE_PATH_STYLE: z.stringbool().default(false),
  /** Origins of the pages that may call the API, separated by commas. */
  ALLOWED_ORIGINS: z
    .string()
    .default("")
    .transform((origins) => origins.split(",").filter(Boolean)),
  /** Whether webhooks may call `http://localhost`, because the service runs on its callers' machine. */
  WEBHOOKS_TO_LOCALHOST: z.stringbool().default(false),
  /** Directory with the function's code. */
  LAMBDA_TASK_ROOT: z.string().default(""),
  /** Origin of the bucket on AWS. Only the pages' function has it. */
  BUCKET_ORIGIN: z.string().default(""),
  /** Endpoint of S3 outside AWS. If it is missing, the SDK uses the endpoint of all services, below. */
  AWS_ENDPOINT_URL_S3: z.string().optional(),
  AWS_ENDPOINT_URL: z.string().optional(),
});

/** The environment of a function: the common variables, and the name of each resource in its permissions. */
export type Environment<P extends Permissions = Permissions> = z.output<typeof commonSchema> & {
  readonly [N in ResourceName as N extends keyof P ? Resources[N]["variable"] : never]: string;
};

/**
 * Parses the environment at the start of a function.
 * @throws Error naming every missing or malformed variable
 */
export function parseEnvironment<const P extends Permissions>(
  permissions: P,
  variables: Readonly<Record<string, string | undefined>>,
): Environment<P> {
  const named = (Object.keys(permissions) as ResourceName[]).map((name) => resources[name].variable);
  const schema = commonSchema.extend(Object.fromEntries(named.map((variable) => [variable, z.string().min(1)])));
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data as Environment<P>;
  throw new Error(`environment: ${describeProblems(problemsOf(parsed.error), "environment")}`);
}
