import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contextOf, parseSettings, projectContext, stackNameOf } from "../../../infra/settings/settings.ts";
import type { StageSettings } from "../../../infra/settings/stage-settings.ts";
import { stages as stagesOfTheCheckout } from "../../../infra/stages.ts";
import { regionCodes } from "../../../lib/regions.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const certificate = "arn:aws:acm:us-east-1:111122223333:certificate/example";
const bare = { regions: { us: {}, eu: {} } };

/** The settings that `-c name=value` on a command line chooses. */
const settings = (pairs: readonly string[], stages: Readonly<Record<string, unknown>> = { dev: bare, prod: bare }) =>
  parseSettings(
    { ...projectContext(), ...contextOf(pairs.flatMap((pair) => ["-c", pair])) },
    stages as Readonly<Record<string, StageSettings>>,
  );

describe("settings", () => {
  test("are a dev stage in every region where nothing is said", () => {
    const { stage, regions, environment } = settings([], { dev: {} });
    expect({ stage, environment, regions: [...regions.keys()] }).toEqual({
      stage: "dev",
      environment: {},
      regions: regionCodes,
    });
    expect(regions.get("us")).toEqual({
      stage: "dev",
      awsRegion: "us-east-1",
      allowedOrigins: [],
      concurrency: {},
      customerKey: false,
      firewall: false,
      firewallRate: 100,
      logDays: 7,
      smallAccount: false,
      terminationProtection: false,
      throttle: { reads: 5000, writes: 2500, uploads: 1000, pages: 500 },
    });
  });

  test("of a region override those of its stage, and those of another stage do not count", () => {
    const prod = {
      alarmEmail: "on-call@example.com",
      logDays: 90,
      regions: {
        us: { domain: { host: "us.api.example.com", certificate } },
        eu: { logDays: 30, allowedOrigins: ["https://app.example.eu"] },
      },
    };
    const { regions } = settings(["stage=prod"], { dev: bare, prod });
    expect(regions.get("us")).toMatchObject({
      stage: "prod",
      alarmEmail: "on-call@example.com",
      logDays: 90,
      domain: { host: "us.api.example.com", certificate },
      allowedOrigins: [],
    });
    expect(regions.get("eu")).toMatchObject({ logDays: 30, allowedOrigins: ["https://app.example.eu"] });
    expect(settings([], { dev: bare, prod }).regions.get("us")).toMatchObject({ logDays: 7 });
  });

  const backupIn = (region: string) => ({
    vault: `arn:aws:backup:${region}:111122223333:backup-vault:a`,
    days: 7,
  });

  test("move a region, with its certificate, its topic and the copies of its backups", () => {
    const moved = {
      awsRegion: "us-west-2",
      alarmTopic: "arn:aws:sns:us-west-2:111122223333:alarms",
      backup: backupIn("us-east-1"),
      domain: { host: "us.api.example.com", certificate: certificate.replace("us-east-1", "us-west-2") },
    };
    const { regions } = settings([], { dev: { regions: { us: moved, eu: { awsRegion: "eu-central-1" } } } });
    expect(regions.get("us")).toMatchObject(moved);
    expect(regions.get("eu")).toMatchObject({ awsRegion: "eu-central-1" });
    for (const name of ["alarmTopic", "domain"] as const) {
      const { [name]: _, ...others } = moved;
      const stayed = { [name]: name === "domain" ? { ...moved.domain, certificate } : certificate };
      expect(() => settings([], { dev: { regions: { us: { ...others, ...stayed } } } })).toThrow(/ in us-west-2/);
    }
  });

  test("deploy a stage only in its own regions", () => {
    expect([...settings([], { dev: { regions: { eu: {} } } }).regions.keys()]).toEqual(["eu"]);
  });

  test("of the checkout are valid, and keep production from being deleted", () => {
    for (const stage of Object.keys(stagesOfTheCheckout)) settings([`stage=${stage}`], stagesOfTheCheckout);
    for (const region of settings(["stage=prod"], stagesOfTheCheckout).regions.values()) {
      expect(region.terminationProtection).toBe(true);
    }
  });

  test("give every stage but dev stacks of its own name", () => {
    expect(stackNameOf("us", "dev")).toBe("WorkItems-us");
    expect(stackNameOf("us", "prod")).toBe("WorkItems-us-prod");
  });

  test("lead functions to other engines by a file of variables, and keep what Lambda reserves out of it", () => {
    const file = join(temporaryDirectory(), "env");
    writeFileSync(
      file,
      "AWS_ENDPOINT_URL=http://127.0.0.1:4566\nWORK_ITEMS_TABLE=Local\nAWS_REGION=x\nLAMBDA_TASK_ROOT=x\nAPI_KEY=wi_us_x\n",
    );
    expect(settings([`environment=${file}`]).environment).toEqual({
      AWS_ENDPOINT_URL: "http://127.0.0.1:4566",
      WORK_ITEMS_TABLE: "Local",
    });
    expect(() => settings([`environment=${file}`, "stage=prod"])).toThrow(/is for functions that run outside AWS/);
  });

  test("take values with an equals sign in them, and leave other options alone", () => {
    expect(contextOf(["--require-approval", "never", "-c", "a=b=c", "--context", "d=e"])).toEqual({ a: "b=c", d: "e" });
  });

  test.each([
    [["stage=production"], "-c stage=production: there is no such stage; did you mean prod? There are dev, prod"],
    [["environment=nowhere"], /^-c environment=nowhere: must be a file with AWS_ENDPOINT_URL=<URL> lines/],
    [["stages=prod"], /^-c stages: there is no such option; did you mean stage\? .* in infra\/stages\.ts$/],
    [["domain=api.example.com"], /^-c domain: there is no such option; .* in infra\/stages\.ts$/],
    [["region=uss"], "-c region=uss: there is no such region; did you mean us? There are us, eu"],
  ])("refuse -c %j in one line that says what to do", (pairs, message) => {
    expect(() => settings(pairs)).toThrow(message);
    expect(() => settings(pairs)).toThrow(/^[^\n]*$/);
  });

  test("reject a region in which the stage is not deployed", () => {
    expect(() => settings(["region=us"], { dev: { regions: { eu: {} } } })).toThrow(
      "-c region=us: stage dev is not deployed there; add it in infra/stages.ts",
    );
  });

  const domain = { host: "us.api.example.com", certificate };
  test.each([
    [{ ...bare, alarmMail: "a@example.com" }, "dev: there is no alarmMail; did you mean alarmEmail?"],
    [{ regions: { uss: {} } }, "dev.regions: there is no uss; did you mean us?"],
    [{ regions: { us: { domains: domain } } }, "dev.regions.us: there is no domains; did you mean domain?"],
    [
      { regions: { us: { domain: { ...domain, zonne: "Z1" } } } },
      "dev.regions.us.domain: there is no zonne; did you mean zone?",
    ],
    [{ ...bare, concurrency: { reads: 5 }, smallAccount: true }, "dev: leave out concurrency or smallAccount"],
    [
      { regions: { us: { backup: { vault: "arn:aws:backup:us-east-1:111122223333:backup-vault:a", days: 7 } } } },
      "dev.regions.us.backup.vault: must be in another region: this one may be lost",
    ],
    ...["us-east-1", "eu-west-2", "eu-central-2"].map((region): [object, string] => [
      { regions: { eu: { backup: { vault: `arn:aws:backup:${region}:111122223333:backup-vault:a`, days: 7 } } } },
      "dev.regions.eu.backup.vault: must be the ARN of a backup vault in an EU region",
    ]),
    [
      { regions: { us: { awsRegion: "us-west-2", backup: backupIn("us-west-2") } } },
      "dev.regions.us.backup.vault: must be in another region: this one may be lost",
    ],
    [
      { regions: { us: { awsRegion: "Oregon" } } },
      "dev.regions.us.awsRegion: must be an AWS region, for example us-west-2",
    ],
    ...["us-east-1", "eu-west-2"].map((awsRegion): [object, string] => [
      { regions: { eu: { awsRegion } } },
      "dev.regions.eu.awsRegion: must be an AWS region in the EU: eu-central-1, ",
    ]),
    [{ ...bare, concurrency: { worker: 5 } }, "there is no worker; did you mean workers?"],
    [{ ...bare, firewall: "maybe" }, 'dev.firewall: must be true, false or "count"'],
    [{ ...bare, alarmEmail: "nobody" }, "dev.alarmEmail: must be an email address"],
    [{ ...bare, logDays: 8 }, /dev\.logDays: must be one of 1, 3, 5, 7, /],
    [{ ...bare, throttle: { reads: 0 } }, "dev.throttle.reads: must be at least 1"],
    [{ ...bare, account: "1111-2222-3333" }, "dev.account: must be the 12 digits of an AWS account"],
    [{ ...bare, allowedOrigins: ["*"] }, "dev.allowedOrigins[0]: must be an origin such as https://app.example.com"],
    [{ ...bare, allowedOrigins: ["https://a.example.com/"] }, ": must be an origin such as "],
    [{ ...bare, allowedOrigins: ["https://a.example.com", "file:///x"] }, "[1]: must be an origin such as "],
    [{ ...bare, allowedOrigins: ["null"] }, ": must be an origin such as "],
    [
      { regions: { us: { domain: { ...domain, host: "https://example.com" } } } },
      "dev.regions.us.domain.host: must be a host name, for example us.api.example.com",
    ],
    [{ regions: { us: { domain: { host: "us.example.com" } } } }, "dev.regions.us.domain.certificate: is required"],
    // API Gateway accepts only certificates of its own region.
    [
      { regions: { eu: { domain } } },
      "dev.regions.eu.domain.certificate: must be the ARN of a certificate in eu-west-1",
    ],
  ])("refuse a stage %j and name the place", (dev, message) => {
    expect(() => settings([], { dev })).toThrow(message);
    expect(() => settings([], { dev })).toThrow(/^infra\/stages\.ts: [^\n]*$/);
  });

  test("reject a name of a stage that resources cannot hold", () => {
    expect(() => settings([], { dev: bare, "Pre-Prod": bare })).toThrow(/^infra\/stages\.ts: [^\n]*Pre-Prod/);
  });
});
