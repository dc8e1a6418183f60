import * as z from "zod";
import { nearestTo } from "../../lib/nearest.ts";
import { RATE_DEFAULT, RATE_MAX } from "../../lib/organizations/organization.ts";
import { REGIONS, type RegionCode, regionCodes } from "../../lib/regions.ts";
import type { Route } from "../../lib/http/route.ts";

/** Classes of functions whose concurrency and throttling can be set together. */
const CALL_CLASSES = ["reads", "writes", "uploads", "pages"] as const;
export type CallClass = (typeof CALL_CLASSES)[number];

/** The class of an endpoint, by the scopes that it needs. Calls of webhooks read or write; calls without a key are pages. */
export function callClassOf(route: { readonly public: true } | Pick<Route, "method" | "scopes" | "public">): CallClass {
  if (route.public === true) return "pages";
  const { method, scopes = [] } = route;
  if (scopes.includes("upload")) return "uploads";
  return scopes.includes("write") || (scopes.includes("webhooks") && method !== "GET") ? "writes" : "reads";
}

/** An object that rejects unknown names and suggests the most similar one for each. */
function settingsObject<const S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === "unrecognized_keys"
        ? keys.map((key: string) => `there is no ${key}; did you mean ${nearestTo(key, Object.keys(shape))}?`).join(" ")
        : undefined,
  });
}

const ORIGINS_MAX = 20;

/** An origin as browsers send it (RFC 6454 §7). */
export const originSchema = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value,
    "must be an origin such as https://app.example.com, without a path",
  );

/** The only numbers of days for which CloudWatch can keep logs. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922] as const;

const positive = z.int("must be a whole number").min(1, "must be at least 1");

/** A setting for each class of calls. */
function classes<S extends z.ZodType>(value: S) {
  const shape = Object.fromEntries(CALL_CLASSES.map((name) => [name, value.optional()]));
  return shape as Record<CallClass, z.ZodOptional<S>>;
}

/** Settings of a stage that each of its regions can override. */
const sharedSettings = {
  /**
   * The account that the stage is in. `npm run deploy` and the operator's commands stop with credentials of another one.
   * @default any, but a stage with `terminationProtection` needs one
   */
  account: z
    .string()
    .regex(/^\d{12}$/, "must be the 12 digits of an AWS account")
    .optional(),
  /** Address that alarms are sent to. @default none: operators subscribe to the topic themselves */
  alarmEmail: z.email("must be an email address").optional(),
  /** "none" lets a protected stage be deployed without a recipient for its alarms. @default it needs one */
  alarms: z.literal("none", 'must be "none", or left out').optional(),
  /**
   * The most concurrent executions of each function of a class: reads, writes, uploads, and pages with all else that needs
   * no key. They are reserved, so other functions can't use them. `workers`: the most executions that a queue starts.
   * @default none; those of functions/workers.ts
   */
  concurrency: settingsObject({
    ...classes(positive),
    workers: z.int("must be a whole number").min(2, "must be at least 2").optional(),
  }).optional(),
  /**
   * Whether a key of the account encrypts tables, bucket, queues and logs. The alarms' topics always have one of their own.
   * @default AWS's own keys
   */
  customerKey: z.boolean("must be true or false").optional(),
  /** "existing" keeps the account's role by which API Gateway writes logs. @default the stack sets it */
  gatewayLogRole: z.literal("existing", 'must be "existing", or left out').optional(),
  /** Origins of the pages that may call the API and exchange files with the bucket. @default none */
  allowedOrigins: z.array(originSchema).max(ORIGINS_MAX, `must be at most ${ORIGINS_MAX} origins`).optional(),
  /** Whether a web application firewall protects the API; "count" only counts what it would block. @default false */
  firewall: z.union([z.boolean(), z.literal("count")], 'must be true, false or "count"').optional(),
  /** The highest rate of an organization, in requests a second. The firewall lets an address send twice as many. @default 100 */
  firewallRate: positive.max(RATE_MAX, `must be at most ${RATE_MAX}`).optional(),
  /** Days for which logs are kept. @default 7 */
  logDays: z.literal(LOG_DAYS, `must be one of ${LOG_DAYS.join(", ")}`).optional(),
  /**
   * Whether the account has a new account's quota of 10 concurrent executions: each event source then takes two.
   * @default false
   */
  smallAccount: z.boolean("must be true or false").optional(),
  /** Address for alarms that can wait until the morning. @default `alarmEmail` */
  ticketEmail: z.email("must be an email address").optional(),
  /** Whether CloudFormation prevents deletion of the stack. @default false */
  terminationProtection: z.boolean("must be true or false").optional(),
  /**
   * Requests a second that the gateway admits to each method of a class from all callers together, and half as many at once.
   * `pages` is also that of each HEAD, and of each unknown path and method. Nothing but the account's quota limits their sum.
   * @default 5000 reads, 2500 writes, 1000 uploads, 500 pages
   */
  throttle: settingsObject(classes(positive)).optional(),
};

const domainSchema = settingsObject({
  /** Host name of the region's API. */
  host: z.hostname("must be a host name, for example us.api.example.com"),
  /** ARN of its certificate. API Gateway takes only certificates of its own region. */
  certificate: z.string(),
  /** Id of the Route 53 zone for the alias record. @default none: another DNS service holds the record */
  zone: z
    .string()
    .regex(/^Z[A-Z0-9]+$/, "must be the id of a Route 53 hosted zone")
    .optional(),
});

/** AWS's regions in the EU. Of those that begin with `eu`, London and Zurich aren't. */
const EU_REGIONS = ["central-1", "north-1", "south-1", "south-2", "west-1", "west-3"].map((name) => `eu-${name}`);

function isInEu(code: RegionCode): boolean {
  return EU_REGIONS.includes(REGIONS[code].awsRegion);
}

function awsRegionSchema(code: RegionCode) {
  return isInEu(code)
    ? z.literal(EU_REGIONS, `must be an AWS region in the EU: ${EU_REGIONS.join(", ")}`)
    : z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be an AWS region, for example us-west-2");
}

function vaultPattern(code: RegionCode): RegExp {
  return new RegExp(
    `^arn:aws:backup:${isInEu(code) ? `(${EU_REGIONS.join("|")})` : "[a-z0-9-]+"}:\\d{12}:backup-vault:\\S+$`,
  );
}

function regionSchema(code: RegionCode) {
  return settingsObject({
    ...sharedSettings,
    /**
     * The AWS region to which the region has moved, because another one was lost. A region in the EU stays in the EU.
     * @default that of lib/regions.ts
     */
    awsRegion: awsRegionSchema(code).optional(),
    /**
     * ARN of the stream of the table WorkItems, if the table was restored under its name: its stream is another one then, which
     * CloudFormation doesn't notice. @default that of the table that the stack created
     */
    stream: z.string().optional(),
    /** The API's host name, different in each region. @default API Gateway's own address */
    domain: domainSchema.optional(),
    /**
     * A daily backup of the tables, with a copy in a vault of another region, kept for some days. The copies
     * of a region in the EU stay in the EU. @default none: point-in-time recovery in the region alone
     */
    backup: settingsObject({
      vault: z
        .string()
        .regex(vaultPattern(code), `must be the ARN of a backup vault${isInEu(code) ? " in an EU region" : ""}`),
      days: z.int("must be a whole number").min(1, "must be at least 1"),
    }).optional(),
    /** ARN of the operator's own SNS topic, which gets the alarms too. @default none */
    alarmTopic: z.string().optional(),
  }).superRefine((settings, context) => {
    const awsRegion = awsRegionOf(code, { regions: { [code]: settings } });
    const { domain, backup, alarmTopic, stream } = settings;
    const reject = (path: string[], message: string): void => context.addIssue({ code: "custom", path, message });
    if (domain?.certificate.startsWith(`arn:aws:acm:${awsRegion}:`) === false) {
      const advice = "request one there with AWS Certificate Manager";
      reject(["domain", "certificate"], `must be the ARN of a certificate in ${awsRegion}: ${advice}`);
    }
    if (alarmTopic?.startsWith(`arn:aws:sns:${awsRegion}:`) === false) {
      reject(["alarmTopic"], `must be the ARN of a topic in ${awsRegion}`);
    }
    if (stream?.startsWith(`arn:aws:dynamodb:${awsRegion}:`) === false) {
      reject(["stream"], `must be the ARN of a stream in ${awsRegion}`);
    }
    if (backup !== undefined && vaultRegionOf(backup) === awsRegion) {
      reject(["backup", "vault"], "must be in another region: this one may be lost");
    }
  });
}

/** The AWS region of a backup's vault. */
export function vaultRegionOf({ vault }: { readonly vault: string }): string {
  return vault.split(":")[3] ?? "";
}

const regionsSchema = settingsObject(
  Object.fromEntries(regionCodes.map((code) => [code, regionSchema(code).optional()])) as Record<
    RegionCode,
    z.ZodOptional<ReturnType<typeof regionSchema>>
  >,
);

/** Also the name of the gateway's stage, and part of names with at most 64 characters. */
const stageNameSchema = z.string().regex(/^[a-z][a-z0-9]{0,11}$/, "must have up to 12 of a-z and 0-9, a letter first");

/** The stages of `infra/stages.ts` by name. */
export const stagesSchema = z.record(
  stageNameSchema,
  settingsObject({
    ...sharedSettings,
    /** The regions that the stage is deployed in, each with its own settings. @default all, without own settings */
    regions: regionsSchema.default(() => Object.fromEntries(regionCodes.map((code) => [code, {}]))),
  }),
);

/** The settings of one stage, as they are written. */
export type StageSettings = z.input<typeof stagesSchema>[string];
/** The AWS region in which a stage has a region. @param stage @default none: where regions are by default */
export function awsRegionOf(code: RegionCode, { regions }: Pick<StageSettings, "regions"> = {}): string {
  return regions?.[code]?.awsRegion ?? REGIONS[code].awsRegion;
}

/** A region's custom domain name. */
export type Domain = z.output<typeof domainSchema>;

const DEFAULTS = {
  allowedOrigins: [],
  concurrency: {},
  customerKey: false,
  firewall: false,
  firewallRate: RATE_DEFAULT,
  logDays: 7,
  smallAccount: false,
  terminationProtection: false,
  // A new account's quota in a region is 10,000 for all of its APIs: no method alone can use up more than half of it.
  throttle: { reads: 5000, writes: 2500, uploads: 1000, pages: 500 },
} as const satisfies Partial<StageSettings>;

type Defaulted = keyof typeof DEFAULTS;
type Given = z.output<ReturnType<typeof regionSchema>>;

/** All settings of one region of a stage. */
export type RegionSettings = Omit<Given, Defaulted | "awsRegion"> & {
  readonly [N in Defaulted]: NonNullable<Given[N]>;
} & {
  readonly throttle: Readonly<Record<CallClass, number>>;
  readonly stage: string;
  readonly awsRegion: string;
};

function withoutUndefined<T extends object>(settings: T): { [N in keyof T]: Exclude<T[N], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

/** The settings of a region, if the stage is deployed in it: its own, then those of its stage, then the defaults. */
export function regionSettingsOf(
  stage: string,
  { regions, ...shared }: z.output<typeof stagesSchema>[string],
  region: RegionCode,
): RegionSettings | undefined {
  const own = regions[region];
  if (own === undefined) return undefined;
  const awsRegion = awsRegionOf(region, { regions });
  const given = { ...DEFAULTS, ...withoutUndefined(shared), ...withoutUndefined(own) };
  return { ...given, throttle: { ...DEFAULTS.throttle, ...withoutUndefined(given.throttle) }, awsRegion, stage };
}
