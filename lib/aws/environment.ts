import * as z from "zod";
import type { Touches } from "./touches.ts";

const name = z.string().min(1);

/** Which variable names which part. The deployment sets a variable exactly where the function touches the part. */
export const VARIABLE_OF = {
  workItems: "WORK_ITEMS_TABLE",
  access: "ACCESS_TABLE",
  limits: "LIMITS_TABLE",
  uploads: "UPLOADS_BUCKET",
  splitQueue: "SPLIT_QUEUE_URL",
  partsQueue: "PARTS_QUEUE_URL",
} as const satisfies Record<keyof Touches, string>;

const always = {
  /** Which regional deployment this is; part of every API key. */
  REGION_CODE: z.enum(["us", "eu"]),
  /** `partiql` (default): batches of 25 conditional statements; `native`: one conditional write an item. */
  WRITE_PATH: z.enum(["partiql", "native"]).default("partiql"),
  /** S3 path style, for embedded engines and LocalStack. */
  S3_FORCE_PATH_STYLE: z.stringbool().default(false),
};
const alwaysSchema = z.object(always);

export type Environment<T extends Touches = Touches> = z.output<typeof alwaysSchema> & {
  readonly [K in keyof typeof VARIABLE_OF as K extends keyof T ? (typeof VARIABLE_OF)[K] : never]: string;
};

/** The schema of the variables that a function with these touches needs. */
export const environmentSchema = (touches: Touches) => {
  const named = Object.keys(touches).map((part) => [VARIABLE_OF[part as keyof Touches], name]);
  return z.object({ ...always, ...(Object.fromEntries(named) as Record<string, typeof name>) });
};

/**
 * Parses the environment once, at the start of a function.
 * @throws Error naming every missing or malformed variable in one message.
 */
export const parseEnvironment = <const T extends Touches>(
  touches: T,
  variables: Record<string, string | undefined>,
): Environment<T> => {
  const parsed = environmentSchema(touches).safeParse(variables);
  if (parsed.success) return parsed.data as unknown as Environment<T>;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`environment: ${problems.join("; ")}`);
};
