import * as z from "zod";

export const REGIONS = { us: "us-east-1", eu: "eu-west-1" } as const;
export type RegionCode = keyof typeof REGIONS;
const regionCodes = Object.keys(REGIONS) as RegionCode[];

/** What `-c name=value` on the command line decides. */
export interface Settings {
  /** One stage an account: both stages have the same stacks and the same protection of data. @default dev */
  readonly stage: "dev" | "prod";
  /** @default both */
  readonly regions: readonly RegionCode[];
  /** A web application firewall before the API. @default false */
  readonly waf: boolean;
  /** Who hears the alarms. @default nobody: the topic is there to subscribe to */
  readonly alarmEmail: string | undefined;
  /** By region. @default the API's own address */
  readonly domains: Partial<Record<RegionCode, Domain>>;
}

export interface Domain {
  readonly host: string;
  readonly certificateArn: string;
  /** Route 53 zone that gets the alias record. @default none: the record is made elsewhere */
  readonly hostedZoneId: string | undefined;
}

/** The command line asks for what cannot be; the message says in one line what to do. */
export class SettingsError extends Error {}

/** `true` in cdk.json, `"true"` on the command line. */
const flag = z.union([z.boolean(), z.stringbool()], "must be true or false").default(false);

const contextSchema = z.object({
  stage: z.enum(["dev", "prod"], "must be dev or prod").default("dev"),
  region: z.enum(regionCodes, `must be ${regionCodes.join(" or ")}`).optional(),
  waf: flag,
  "alarm-email": z.email("must be an e-mail address").optional(),
  domain: z.hostname("must be a host name, for example api.example.com").optional(),
  zone: z
    .string()
    .regex(/^Z[A-Z0-9]+$/, "must be the id of a Route 53 hosted zone")
    .optional(),
  "certificate-us": z.string().optional(),
  "certificate-eu": z.string().optional(),
});
type Context = z.output<typeof contextSchema>;

const domainOf = (code: RegionCode, context: Context): Domain | undefined => {
  if (context.domain === undefined) return undefined;
  const host = `${code}.${context.domain}`;
  const certificateArn = context[`certificate-${code}`];
  if (!certificateArn?.startsWith(`arn:aws:acm:${REGIONS[code]}:`)) {
    throw new SettingsError(
      `${host} needs a certificate of ${REGIONS[code]}: request one there with AWS Certificate Manager and pass ` +
        `-c certificate-${code}=<its ARN>, or leave this region out with -c region=${code === "us" ? "eu" : "us"}`,
    );
  }
  return { host, certificateArn, hostedZoneId: context.zone };
};

/**
 * @param read value of a context name, as `app.node.tryGetContext` gives it
 * @throws SettingsError
 */
export const parseSettings = (read: (name: string) => unknown): Settings => {
  const names = Object.keys(contextSchema.shape);
  const parsed = contextSchema.safeParse(Object.fromEntries(names.map((name) => [name, read(name)])));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [name], message }) => {
      return `-c ${String(name)}=${String(read(String(name)))}: ${message}`;
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
    domains: Object.fromEntries(domains),
  };
};
