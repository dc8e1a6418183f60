import * as z from "zod";
import { REST_API_ID, type ResolvedTemplate } from "../template.ts";

const bucketSchema = z.object({
  CorsConfiguration: z
    .object({
      CorsRules: z.array(
        z.object({
          AllowedOrigins: z.array(z.string()),
          AllowedMethods: z.array(z.string()),
          AllowedHeaders: z.array(z.string()).default([]),
          ExposedHeaders: z.array(z.string()).default([]),
          MaxAge: z.coerce.number().optional(),
        }),
      ),
    })
    .optional(),
});

type Headers = Readonly<Record<string, string>>;

/** @returns CORS headers that allow the origin's request; undefined if the bucket's rules do not allow it */
export type AllowOrigin = (
  bucket: string,
  origin: string,
  method: string,
  requestedHeaders?: string,
) => Headers | undefined;

/** Whether a value matches one of the patterns, in which `*` matches any characters, as in S3's own rules. */
function matches(patterns: readonly string[], value: string): boolean {
  return patterns.some((pattern) => {
    const [before = "", after] = pattern.split("*", 2);
    return after === undefined ? value === pattern : value.startsWith(before) && value.endsWith(after);
  });
}

/** The template's CORS rules. `localOrigins` replace the API's own address in them. */
export function s3Cors(template: ResolvedTemplate, localOrigins: () => readonly string[]): AllowOrigin {
  const own = `https://${REST_API_ID}.execute-api.${template.region}.amazonaws.com`;
  const rules = new Map(
    [...template.resourcesOf("AWS::S3::Bucket", bucketSchema)].map(([logicalId, { CorsConfiguration }]) => [
      template.physicalName(logicalId),
      CorsConfiguration?.CorsRules ?? [],
    ]),
  );
  return (bucket, origin, method, requestedHeaders) => {
    const rule = (rules.get(bucket) ?? []).find(({ AllowedOrigins, AllowedMethods }) => {
      const origins = AllowedOrigins.flatMap((allowed) => (allowed === own ? localOrigins() : [allowed]));
      return matches(origins, origin) && AllowedMethods.includes(method);
    });
    if (rule === undefined) return undefined;
    return {
      "access-control-allow-origin": rule.AllowedOrigins.includes("*") ? "*" : origin,
      "access-control-allow-methods": rule.AllowedMethods.join(", "),
      ...(requestedHeaders !== undefined && { "access-control-allow-headers": requestedHeaders }),
      ...(rule.ExposedHeaders.length > 0 && { "access-control-expose-headers": rule.ExposedHeaders.join(", ") }),
      ...(rule.MaxAge !== undefined && { "access-control-max-age": String(rule.MaxAge) }),
      vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
    };
  };
}
