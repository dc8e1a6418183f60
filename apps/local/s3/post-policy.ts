import * as z from "zod";
import { S3Refusal } from "./s3-response.ts";

/** Fields of a form, without the file, by lower-case name. */
export type FormFields = ReadonlyMap<string, string>;

/** Limits of the file's size, in bytes. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** S3's limit for one request: https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html. */
const FILE_MAX_BYTES = 5 * 1024 ** 3;

const policySchema = z.object({
  expiration: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  conditions: z.array(
    z.union([
      z.tuple([z.literal("content-length-range"), z.coerce.number(), z.coerce.number()]),
      z.tuple([z.enum(["eq", "starts-with"]), z.string().startsWith("$"), z.string()]),
      z.record(z.string(), z.string()),
    ]),
  ),
});
type Policy = z.output<typeof policySchema>;

function denied(message: string): S3Refusal {
  return new S3Refusal(403, "AccessDenied", message);
}

function parsePolicy(encoded: string): Policy {
  try {
    return policySchema.parse(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
  } catch {
    throw new S3Refusal(400, "InvalidPolicyDocument", "Invalid Policy: Invalid JSON.");
  }
}

/** Whether a field may be present without a condition that names it. */
function isExempt(name: string): boolean {
  return ["file", "policy", "x-amz-signature"].includes(name) || name.startsWith("x-ignore-");
}

function assertConditions({ conditions }: Policy, fields: FormFields): SizeRange {
  const named = new Set<string>();
  let range: SizeRange = { min: 0, max: FILE_MAX_BYTES };
  const check = (operator: "eq" | "starts-with", name: string, expected: string): void => {
    const value = fields.get(name.toLowerCase()) ?? "";
    named.add(name.toLowerCase());
    if (operator === "eq" ? value === expected : value.startsWith(expected)) return;
    const condition = JSON.stringify([operator, `$${name}`, expected]);
    throw denied(`Invalid according to Policy: Policy Condition failed: ${condition}`);
  };
  for (const condition of conditions) {
    if (!Array.isArray(condition)) {
      for (const [name, expected] of Object.entries(condition)) check("eq", name, expected);
    } else if (condition[0] === "content-length-range") range = { min: condition[1], max: condition[2] };
    else check(condition[0], condition[1].slice(1), condition[2]);
  }
  const extra = [...fields.keys()].filter((name) => !named.has(name) && !isExempt(name));
  if (extra.length > 0) throw denied(`Invalid according to Policy: Extra input fields: ${extra.join(", ")}`);
  return range;
}

/**
 * Checks a form against the policy in it, as S3 does: expiry and conditions.
 * @param fields including `bucket` and the object's final `key`
 * @param now milliseconds since the epoch
 * @returns the limits of the file's size
 * @throws S3Refusal
 */
export function verifyPostPolicy(fields: FormFields, now: number): SizeRange {
  const encoded = fields.get("policy");
  if (encoded === undefined) throw denied("Access Denied");
  const policy = parsePolicy(encoded);
  if (policy.expiration <= now) throw denied("Invalid according to Policy: Policy expired.");
  return assertConditions(policy, fields);
}
