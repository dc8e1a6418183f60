import * as z from "zod";
import { REGIONS, type RegionCode, regionCodes, regionCodeSchema } from "../lib/regions.ts";
import { readEnvironmentFile } from "./environment-file.ts";

/** The deployment's settings, from `-c name=value` on the command line. */
export interface Settings {
  /** Each account has one stage. Both stages have the same stacks and protect data alike. @default dev */
  readonly stage: "dev" | "prod";
  /** @default all */
  readonly regions: readonly RegionCode[];
  /** Whether a web application firewall stands before the API. @default false */
  readonly waf: boolean;
  /** Address that alarms are sent to. @default none: operators subscribe to the topic themselves */
  readonly alarmEmail: string | undefined;
  /** Origins of the pages that may call the API and exchange files with the bucket. @default none */
  readonly allowedOrigins: readonly string[];
  /** Custom domain names by region. @default the API's own address */
  readonly domains: Partial<Record<RegionCode, Domain>>;
  /** Environment variables of all functions, where sam or LocalStack runs them instead of AWS. @default none */
  readonly environment: Readonly<Record<string, string>>;
}

/** A region's custom domain name. */
export interface Domain {
  readonly host: string;
  readonly certificateArn: string;
  /** Route 53 zone for the alias record. @default none: another DNS service holds the record */
  readonly hostedZoneId: string | undefined;
}

/** A setting is not valid. The message says in one line what to do. */
export class SettingsError extends Error {}

/** A boolean: `true` in cdk.json, `"true"` on the command line. */
const flag = z.union([z.boolean(), z.stringbool()], "must be true or false").default(false);

const certificateOf = (code: RegionCode) => `certificate-${code}` as const;
const certificates = Object.fromEntries(
  regionCodes.map((code) => [certificateOf(code), z.string().optional()]),
) as Record<ReturnType<typeof certificateOf>, z.ZodOptional<z.ZodString>>;

const ORIGINS_MAX = 20;

/** An origin as browsers send it (RFC 6454 §7). */
const origin = z
  .string()
  .trim()
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value,
    "must be origins such as https://app.example.com, separated by commas, each without a path",
  );
const origins = z
  .string()
  .transform((list) => list.split(","))
  .pipe(z.array(origin).max(ORIGINS_MAX, `must be at most ${ORIGINS_MAX} origins`))
  .default([]);

const contextSchema = z.object({
  stage: z.enum(["dev", "prod"], "must be dev or prod").default("dev"),
  region: regionCodeSchema.optional(),
  waf: flag,
  "alarm-email": z.email("must be an e-mail address").optional(),
  domain: z.hostname("must be a host name, for example api.example.com").optional(),
  zone: z
    .string()
    .regex(/^Z[A-Z0-9]+$/, "must be the id of a Route 53 hosted zone")
    .optional(),
  ...certificates,
  "allowed-origins": origins,
  environment: z.string().optional(),
});
type Context = z.output<typeof contextSchema>;

const domainOf = (code: RegionCode, context: Context): Domain | undefined => {
  if (context.domain === undefined) return undefined;
  const host = `${code}.${context.domain}`;
  const certificateArn = context[certificateOf(code)];
  const { awsRegion } = REGIONS[code];
  if (!certificateArn?.startsWith(`arn:aws:acm:${awsRegion}:`)) {
    const others = regionCodes.filter((other) => other !== code);
    throw new SettingsError(
      `${host} needs a certificate of ${awsRegion}: request one there with AWS Certificate Manager and pass ` +
        `-c ${certificateOf(code)}=<its ARN>, or leave this region out with -c region=${others.join(" or ")}`,
    );
  }
  return { host, certificateArn, hostedZoneId: context.zone };
};

/** Lambda sets the first five itself and refuses a template that does; the last two are for callers, not functions. */
const RESERVED_VARIABLES =
  /^(AWS_REGION|AWS_DEFAULT_REGION|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|API_KEY|BASE_URL)$/;

const environmentOf = ({ environment: file, stage }: Context): Settings["environment"] => {
  if (file === undefined) return {};
  if (stage === "prod") {
    throw new SettingsError(`-c environment=${file}: is for functions that run elsewhere than on AWS; leave it out`);
  }
  const variables = Object.entries(readEnvironmentFile(file)).filter(([name]) => !RESERVED_VARIABLES.test(name));
  if (!variables.some(([name]) => name.startsWith("AWS_ENDPOINT_URL"))) {
    throw new SettingsError(
      `-c environment=${file}: must be a file with AWS_ENDPOINT_URL=<URL> lines, such as the .local/env of npm start`,
    );
  }
  return Object.fromEntries(variables);
};

/** The CDK's own context names contain a colon or a slash; the names of our settings do not. */
const isCdkContext = (name: string): boolean => /[:/]/.test(name);

/**
 * Checks the context and makes settings of it.
 * @param given the whole context, by name; the CDK's own values in it are ignored
 * @throws SettingsError
 */
export const parseSettings = (given: Readonly<Record<string, unknown>>): Settings => {
  const names = Object.keys(contextSchema.shape);
  const unknown = Object.keys(given).filter((name) => !isCdkContext(name) && !names.includes(name));
  if (unknown.length > 0) {
    throw new SettingsError(`-c ${unknown.join(", ")}: is no setting; settings are ${names.join(", ")}`);
  }
  const parsed = contextSchema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [name], message }) => {
      return `-c ${String(name)}=${String(given[String(name)])}: ${message}`;
    });
    throw new SettingsError(problems.join("; "));
  }
  const context = parsed.data;
  const regions = context.region === undefined ? regionCodes : [context.region];
  const domains = regions.flatMap((code) => {
    const domain = domainOf(code, context);
    return domain === undefined ? [] : [[code, domain] as const];
  });
  return {
    stage: context.stage,
    regions,
    waf: context.waf,
    alarmEmail: context["alarm-email"],
    allowedOrigins: context["allowed-origins"],
    domains: Object.fromEntries(domains),
    environment: environmentOf(context),
  };
};
