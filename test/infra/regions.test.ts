import { describe, expect, test } from "vitest";
import { REGIONS, type RegionCode, regionCodes } from "../../lib/regions.ts";
import { resourcesOfKind } from "../../lib/resources.ts";
import { makeApp, plain, resourceOf, resourcesOf, synthesize, type Template, templateOf } from "./synthesized.ts";

const { us } = synthesize();

/** A template without region, names, and hashes in logical ids. */
const anonymous = (template: Template, region: string, code: string): unknown =>
  JSON.parse(
    JSON.stringify(template)
      .replaceAll(region, "<region>")
      .replaceAll(`WorkItems-${code}`, "<stack>")
      .replaceAll(`WorkItems${code}`, "WorkItems")
      .replaceAll(`(${code}, dev)`, "(<code>, dev)")
      .replaceAll(`"REGION_CODE":"${code}"`, '"REGION_CODE":"<code>"')
      // HEAD ends like a hash begins.
      .replaceAll(/(?:HEAD)?[0-9A-F]{8}(?:[0-9a-f]{32})?/g, ""),
  );

const certificateIn = (region: string) => `arn:aws:acm:${region}:111122223333:certificate/example`;

describe("the regions", () => {
  test.each(regionCodes)("have codes that keys and host names can hold: %s", (region) => {
    expect(region).toMatch(/^[a-z]{2}$/);
    expect(REGIONS[region].awsRegion).toMatch(/^[a-z]{2}(-[a-z]+)+-\d$/);
  });

  test.each(regionCodes)("share nothing: the template of %s names no other region and imports no value", (region) => {
    const template = templateOf(region);
    const text = JSON.stringify(template);
    const others = regionCodes.filter((code) => code !== region);
    for (const each of [...others.flatMap((code) => [REGIONS[code].awsRegion, `WorkItems-${code}`]), "ImportValue"]) {
      expect(text).not.toContain(each);
    }
    expect(Object.keys(template.Parameters)).toEqual(["BootstrapVersion"]);
  });

  test.each(regionCodes)("are alike in all but their names: %s", (region) => {
    const made = anonymous(templateOf(region), REGIONS[region].awsRegion, region);
    expect(made).toEqual(anonymous(us, REGIONS.us.awsRegion, "us"));
  });

  test("that move to another AWS region stay as they are", () => {
    for (const backup of [undefined, { vault: "arn:aws:backup:eu-west-1:111122223333:backup-vault:copies", days: 7 }]) {
      const own = backup && { backup };
      const moved = templateOf("us", { regions: { us: { ...own, awsRegion: "us-west-2" } } });
      const stayed = templateOf("us", { regions: { us: { ...own } } });
      expect(JSON.stringify(moved)).not.toContain("us-east-1");
      expect(anonymous(moved, "us-west-2", "us")).toEqual(anonymous(stayed, "us-east-1", "us"));
    }
  });

  test("need no custom resource", () => {
    expect(Object.values(us.Resources).filter(({ Type }) => /^Custom::|CustomResource$/.test(Type))).toEqual([]);
  });

  test("say where the API, tables, bucket and queues are", () => {
    const named = [
      ...resourcesOfKind("table").map(([, { id }]) => `${id}Table`),
      ...resourcesOfKind("bucket").map(([, { id }]) => `${id}Bucket`),
      ...resourcesOfKind("queue").flatMap(([, { id, keepsAll = false }]) => [
        `${id}Url`,
        ...(keepsAll ? [] : [`${id.replace(/Queue$/, "")}DeadLettersUrl`]),
      ]),
    ];
    expect(Object.keys(us.Outputs).toSorted()).toEqual(
      ["AlarmTopic", "TicketTopic", "ApiUrl", "DataVersion", ...named].toSorted(),
    );
    expect(plain(us.Outputs["ApiUrl"]?.Value)).toMatch(/^https:\/\/ApiRestApi\w+\.execute-api\.us-east-1\./);
  });
});

describe("a stage", () => {
  test("has its own settings and, except for dev, its name in the stack's name", () => {
    const assembly = makeApp({ logDays: 90, terminationProtection: true }, { stage: "prod" }).synth();
    const stack = assembly.getStackByName("WorkItems-us-prod");
    expect([stack.id, stack.terminationProtection]).toEqual(["WorkItems-us", true]);
    expect(stack.tags).toMatchObject({ stage: "prod", terminationProtection: "yes", logDays: "90" });
    const template = stack.template as Template;
    expect(resourceOf(template, "AWS::ApiGateway::Stage")).toMatchObject({ StageName: "prod" });
    const retention = resourcesOf(template, "AWS::Logs::LogGroup").map(([, group]) => group["RetentionInDays"]);
    expect(new Set(retention)).toEqual(new Set([90]));
    expect(resourceOf(us, "AWS::ApiGateway::Stage")).toMatchObject({ StageName: "dev" });
  });

  test("can be beside another in one account and region: no name is that of two", () => {
    const names = (template: Template) =>
      Object.values(template.Resources).flatMap(({ Properties }) =>
        Object.entries(Properties ?? {})
          .filter(([name, value]) => /(Name|Service|Namespace)$/.test(name) && typeof value === "string")
          .map(([, value]) => String(value))
          .filter((value) => value.includes("WorkItems-")),
      );
    const prod = new Set(names(synthesize({}, { stage: "prod" }).us));
    expect(prod.size).toBeGreaterThan(40);
    expect(names(us).filter((name) => prod.has(name))).toEqual([]);
  });
});

describe("a domain", () => {
  const hostOf = (code: RegionCode) => `${code}.api.example.com`;
  const withDomains = (zone?: string) => ({
    regions: Object.fromEntries(
      regionCodes.map((code) => {
        const certificate = certificateIn(REGIONS[code].awsRegion);
        return [code, { domain: { host: hostOf(code), certificate, ...(zone !== undefined && { zone }) } }];
      }),
    ),
  });

  test("gives each region a host of its own with its own certificate, and an alias record in the zone", () => {
    for (const code of regionCodes) {
      const template = templateOf(code, withDomains("Z0123456789"));
      expect(resourceOf(template, "AWS::ApiGateway::DomainName")).toMatchObject({
        DomainName: hostOf(code),
        RegionalCertificateArn: certificateIn(REGIONS[code].awsRegion),
        SecurityPolicy: "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09",
      });
      expect(resourceOf(template, "AWS::Route53::RecordSet")).toMatchObject({
        Name: `${hostOf(code)}.`,
        HostedZoneId: "Z0123456789",
        Type: "A",
      });
      expect(template.Outputs["ApiUrl"]?.Value).toBe(`https://${hostOf(code)}/`);
      expect(JSON.stringify(resourceOf(template, "AWS::S3::Bucket")["CorsConfiguration"])).toContain(
        `"https://${hostOf(code)}"`,
      );
    }
  });

  test("adds no record without a zone, but outputs the record's target", () => {
    const { us: own } = synthesize(withDomains());
    expect(resourcesOf(own, "AWS::Route53::RecordSet")).toEqual([]);
    expect(plain(own.Outputs["DomainTarget"]?.Value)).toMatch(/RegionalDomainName$/);
  });
});
