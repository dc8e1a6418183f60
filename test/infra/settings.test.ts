import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contextOf, projectContext } from "../../infra/context.ts";
import { parseSettings } from "../../infra/settings.ts";
import { regionCodes, regionCodesInWords } from "../../lib/regions.ts";

/** Settings from `-c name=value` on a command line. */
const settings = (...pairs: readonly string[]) =>
  parseSettings({ ...projectContext(), ...contextOf(pairs.flatMap((pair) => ["-c", pair])) });
const certificate = "arn:aws:acm:us-east-1:111122223333:certificate/example";

describe("settings", () => {
  test("are a dev stage in every region where nothing is said", () => {
    expect(settings()).toEqual({
      stage: "dev",
      regions: regionCodes,
      waf: false,
      alarmEmail: undefined,
      allowedOrigins: [],
      domains: {},
      environment: {},
    });
  });

  test("name a domain in the regions that are deployed", () => {
    expect(
      settings("region=us", "domain=api.example.com", `certificate-us=${certificate}`, "zone=Z0123"),
    ).toMatchObject({
      regions: ["us"],
      domains: { us: { host: "us.api.example.com", certificateArn: certificate, hostedZoneId: "Z0123" } },
    });
  });

  test("lead functions to other engines by a file of variables, and keep what Lambda reserves out of it", () => {
    const directory = mkdtempSync(join(tmpdir(), "work-items-settings-"));
    const file = join(directory, "env");
    writeFileSync(
      file,
      "AWS_ENDPOINT_URL=http://127.0.0.1:4566\nWORK_ITEMS_TABLE=Local\nAWS_REGION=x\nAPI_KEY=wi_us_x\n",
    );
    expect(settings(`environment=${file}`).environment).toEqual({
      AWS_ENDPOINT_URL: "http://127.0.0.1:4566",
      WORK_ITEMS_TABLE: "Local",
    });
    expect(() => settings(`environment=${file}`, "stage=prod")).toThrow(
      /is for functions that run elsewhere than on AWS/,
    );
    rmSync(directory, { recursive: true });
  });

  test("name the origins of pages, separated by commas", () => {
    expect(settings("allowed-origins=https://app.example.com, http://localhost:5173").allowedOrigins).toEqual([
      "https://app.example.com",
      "http://localhost:5173",
    ]);
  });

  test("take values with an equals sign in them, and leave other options alone", () => {
    expect(contextOf(["--require-approval", "never", "-c", "a=b=c", "--context", "d=e"])).toEqual({ a: "b=c", d: "e" });
  });

  test.each([
    [["stage=production"], "-c stage=production: must be dev or prod"],
    [["environment=nowhere"], /^-c environment=nowhere: must be a file with AWS_ENDPOINT_URL=<URL> lines/],
    [["allowed-origins=*"], /^-c allowed-origins=\*: must be origins such as https:\/\/app.example.com/],
    [["allowed-origins=https://a.example.com/"], /: must be origins such as /],
    [["allowed-origins=https://a.example.com,file:///x"], /: must be origins such as /],
    [["allowed-origins=null"], /: must be origins such as /],
    [["wafs=true"], /^-c wafs: is no setting; settings are stage, region, waf, /],
    [["region=mars"], `-c region=mars: must be ${regionCodesInWords}`],
    [["waf=maybe"], "-c waf=maybe: must be true or false"],
    [["alarm-email=nobody"], "-c alarm-email=nobody: must be an e-mail address"],
    [["domain=https://example.com"], "-c domain=https://example.com: must be a host name, for example api.example.com"],
    [["domain=example.com"], /^us\.example\.com needs a certificate of us-east-1: .* -c certificate-us=<its ARN>/],
    [
      ["domain=example.com", `certificate-us=${certificate}`],
      /^eu\.example\.com needs .* leave this region out with -c region=us( or |$)/,
    ],
    // API Gateway accepts only certificates of its own region.
    [
      ["domain=example.com", `certificate-us=${certificate.replace("us-east-1", "eu-west-1")}`],
      /^us\.example\.com needs/,
    ],
  ])("refuse %j in one line that says what to do", (pairs, message) => {
    expect(() => settings(...pairs)).toThrow(message);
    expect(() => settings(...pairs)).toThrow(/^[^\n]*$/);
  });
});
