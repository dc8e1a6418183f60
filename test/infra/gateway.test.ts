import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { create } from "../../functions/reject-unknown-route.ts";
import { pages } from "../../functions/pages.ts";
import { allRoutes } from "../../functions/routes.ts";
import { methodsOf } from "../../lib/http/route.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { EVERY_SETTING } from "./every-setting.ts";
import { stages } from "../../infra/stages.ts";
import { plain, resourceOf, resourcesOf, synthesize } from "./synthesized.ts";

const { us } = synthesize();

const paths = new Map<string, string>();
const pathOf = (id: string): string => {
  const known = paths.get(id);
  if (known !== undefined) return known;
  const resource = us.Resources[id];
  const { ParentId: parent, PathPart: name } = plain(resource?.Properties) as { ParentId: string; PathPart: string };
  const path = parent.endsWith(".RootResourceId") ? `/${name}` : `${pathOf(parent)}/${name}`;
  paths.set(id, path);
  return path;
};

interface Method {
  readonly HttpMethod: string;
  readonly ResourceId: string;
  readonly AuthorizationType: string;
  readonly Integration: { readonly Type: string; readonly Uri: string; readonly Credentials: string };
}
const methods = resourcesOf(us, "AWS::ApiGateway::Method").map(([, properties]) => plain(properties) as Method);
const functionIds = new Map(
  resourcesOf(us, "AWS::Lambda::Function").map(([id, { FunctionName: name }]) => [
    id,
    String(name).replace("WorkItems-us-", ""),
  ]),
);

/** Names of functions by method and path, for example `GET /v1/work_items`. */
const functionBehind = new Map(
  methods.map(({ HttpMethod, ResourceId, Integration }) => {
    const path = ResourceId.endsWith(".RootResourceId") ? "/" : pathOf(ResourceId);
    const id = [...functionIds.keys()].find((candidate) => Integration.Uri.includes(`${candidate}.Arn/invocations`));
    return [`${HttpMethod} ${path}`, functionIds.get(id ?? "")];
  }),
);

describe("routes", () => {
  test.each(allRoutes())("$method $path goes to $name, and HEAD where GET does", ({ method, path, name }) => {
    for (const each of methodsOf({ method })) expect(functionBehind.get(`${each} ${path}`)).toBe(name);
  });

  test.each(pages.paths)("GET and HEAD %s go to the pages", (path) => {
    for (const each of ["GET", "HEAD"]) expect(functionBehind.get(`${each} ${path}`)).toBe("get-page");
  });

  test("every other method and path goes to our own 404 and 405", () => {
    const every = resourcesOf(us, "AWS::ApiGateway::Resource").map(([id]) => pathOf(id));
    expect(every).toEqual(expect.arrayContaining(["/v1", "/v1/work_items", "/{proxy+}"]));
    for (const path of ["/", ...every])
      expect([path, functionBehind.get(`ANY ${path}`)]).toEqual([path, "reject-unknown-route"]);
    const served = allRoutes().flatMap(methodsOf).length + 2 * pages.paths.length;
    expect(functionBehind.size).toBe(served + every.length + 1);
  });

  test("are proxied, and authenticated by the functions", () => {
    for (const method of methods)
      expect(method).toMatchObject({ AuthorizationType: "NONE", Integration: { Type: "AWS_PROXY" } });
  });

  test("are invoked by one role, which may invoke the functions of the API and nothing else", () => {
    expect(new Set(methods.map(({ Integration: { Credentials: role } }) => role)).size).toBe(1);
    const [invoker = ""] = methods.map(({ Integration: { Credentials: role } }) => role.replace(/\.Arn$/, ""));
    const { AssumeRolePolicyDocument: trust, Policies: policies } = us.Resources[invoker]!.Properties as {
      AssumeRolePolicyDocument: { Statement: object[] };
      Policies: { PolicyDocument: { Statement: { Action: string; Resource: unknown[] }[] } }[];
    };
    expect(trust.Statement).toMatchObject([{ Principal: { Service: "apigateway.amazonaws.com" } }]);
    const statements = policies.flatMap(({ PolicyDocument: { Statement: each } }) => each);
    expect(statements.map(({ Action: action }) => action)).toEqual(["lambda:InvokeFunction"]);
    const invoked = (plain(statements[0]!.Resource) as string[]).map((arn) =>
      functionIds.get(arn.replace(/\.Arn$/, "")),
    );
    expect(new Set(invoked)).toEqual(new Set(functionBehind.values()));
    const ofGateway = resourcesOf(us, "AWS::Lambda::Permission").filter(
      ([, { Principal: principal }]) => principal === "apigateway.amazonaws.com",
    );
    expect(ofGateway).toEqual([]);
  });
});

const problemSchema = z.strictObject({
  type: z.literal("about:blank"),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string(),
  instance: z.literal("$context.requestId"),
  errors: z.tuple([]),
  error: z.string(),
});

describe("gateway responses", () => {
  interface GatewayResponse {
    readonly ResponseType: string;
    readonly StatusCode?: string;
    readonly ResponseParameters: Readonly<Record<string, string>>;
    readonly ResponseTemplates: Readonly<Record<string, string>>;
  }
  const responses = resourcesOf(us, "AWS::ApiGateway::GatewayResponse").map(
    ([, properties]) => plain(properties) as GatewayResponse,
  );
  const responseOf = (type: ResponseType) => responses.find(({ ResponseType: name }) => name === type.responseType);

  test("there is one for every type that the gateway has", () => {
    const types = Object.values(ResponseType).filter((value) => value instanceof ResponseType);
    expect(responses.map((response) => response.ResponseType).toSorted()).toEqual(
      types.map(({ responseType }) => responseType).toSorted(),
    );
  });

  test.each(responses)("$ResponseType has the common error body and a request id", (response) => {
    const body: unknown = JSON.parse(response.ResponseTemplates["application/json"] ?? "");
    expect(body).toEqual({ error: expect.stringMatching(/./) });
    expect(response.ResponseParameters).toHaveProperty(["gatewayresponse.header.x-request-id"], "context.requestId");
  });

  const hasStatus = ({ StatusCode }: GatewayResponse): boolean => StatusCode !== undefined;

  test.each(responses.filter(hasStatus))("$ResponseType is problem details for those who accept them", (response) => {
    const { "application/json": plainBody = "", "application/problem+json": body = "" } = response.ResponseTemplates;
    const { error } = JSON.parse(plainBody) as { error: string };
    const status = Number(response.StatusCode);
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({ status, detail: error, error });
  });

  test("one whose status the gateway chooses has the plain body only, which holds no status", () => {
    const others = responses.filter((response) => !hasStatus(response));
    expect(others.map(({ ResponseType: name }) => name)).toEqual(["DEFAULT_4XX"]);
    expect(others.flatMap((response) => Object.keys(response.ResponseTemplates))).toEqual(["application/json"]);
  });

  test.each([
    [ResponseType.MISSING_AUTHENTICATION_TOKEN, "404"],
    [ResponseType.INVALID_SIGNATURE, "404"],
    [ResponseType.REQUEST_TOO_LARGE, "413"],
    [ResponseType.THROTTLED, "429"],
    [ResponseType.DEFAULT_5XX, "500"],
    [ResponseType.API_CONFIGURATION_ERROR, "503"],
    [ResponseType.INTEGRATION_TIMEOUT, "503"],
  ])("$responseType has the status that our own function would give", (type, status) => {
    expect(responseOf(type)?.StatusCode).toBe(status);
  });

  test("an unknown path gets the same bytes from the gateway as from our function", async () => {
    const rejectUnknownRoute = create(await createTestRuntime());
    const event = { resource: "/{proxy+}", httpMethod: "GET", headers: {}, requestContext: {} };
    const { body } = await rejectUnknownRoute(event as unknown as APIGatewayProxyEvent, {} as Context);
    expect(responseOf(ResponseType.MISSING_AUTHENTICATION_TOKEN)?.ResponseTemplates).toMatchObject({
      "application/json": body,
    });
  });

  test("have Retry-After if their status is 429 or 503", () => {
    for (const { StatusCode, ResponseParameters } of responses) {
      const seconds = ResponseParameters["gatewayresponse.header.Retry-After"] ?? "none";
      expect(seconds).toMatch(StatusCode === "429" || StatusCode === "503" ? /^'\d+'$/ : /^none$/);
    }
  });
});

describe("the API", () => {
  test("is regional, takes any bytes, and speaks TLS 1.2 with forward secrecy or better", () => {
    expect(resourceOf(us, "AWS::ApiGateway::RestApi")).toMatchObject({
      EndpointConfiguration: { Types: ["REGIONAL"] },
      BinaryMediaTypes: ["*/*"],
      MinimumCompressionSize: 1024,
      SecurityPolicy: "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09",
    });
  });

  test("throttles, traces, and logs every request as JSON without ids or keys in it", () => {
    const stage = resourceOf(us, "AWS::ApiGateway::Stage");
    const [, ...others] = stage["MethodSettings"] as object[];
    expect(stage).toMatchObject({
      TracingEnabled: true,
      MethodSettings: [
        {
          HttpMethod: "*",
          ResourcePath: "/*",
          ThrottlingRateLimit: 500,
          ThrottlingBurstLimit: 250,
          DataTraceEnabled: false,
        },
        ...others,
      ],
    });
    const { Format: format } = stage["AccessLogSetting"] as { Format: string };
    const logged: unknown = JSON.parse(format);
    expect(logged).toMatchObject({
      requestId: "$context.requestId",
      status: "$context.status",
      resource: "$context.resourcePath",
    });
    expect(format).not.toMatch(/\$context\.(path|authorizer|identity\.apiKey)/);
  });

  test("expires all logs, including the gateway's own", () => {
    const groups = resourcesOf(us, "AWS::Logs::LogGroup").map(([, group]) => plain(group) as Record<string, unknown>);
    expect(groups.map(({ LogGroupName: name }) => name)).toContainEqual(
      expect.stringMatching(/^API-Gateway-Execution-Logs_/),
    );
    for (const group of groups) expect(group).toHaveProperty("RetentionInDays", 7);
  });
});

describe("origins of pages", () => {
  const corsOf = (template: typeof us): readonly (readonly [unknown, unknown])[] =>
    resourcesOf(template, "AWS::ApiGateway::GatewayResponse").map(([, { ResponseParameters: parameters }]) => {
      const headers = parameters as Record<string, string>;
      const header = (name: string) => headers[`gatewayresponse.header.Access-Control-${name}`];
      return [header("Allow-Origin"), header("Expose-Headers")];
    });
  const variablesOf = (template: typeof us, name: string) => {
    const [, { Environment }] = resourcesOf(template, "AWS::Lambda::Function").find(
      ([, { FunctionName }]) => FunctionName === `WorkItems-us-${name}`,
    )!;
    return (Environment as { Variables: Record<string, string> }).Variables;
  };
  const bucketOriginsOf = (template: typeof us) => {
    const { CorsConfiguration: cors } = resourceOf(template, "AWS::S3::Bucket");
    return (cors as { CorsRules: { AllowedOrigins: unknown[] }[] }).CorsRules[0]?.AllowedOrigins.slice(1);
  };

  test("are none unless they are named", () => {
    expect(new Set(corsOf(us).flat())).toEqual(new Set([undefined]));
    expect(variablesOf(us, "get-work-item")).not.toHaveProperty("ALLOWED_ORIGINS");
    expect(bucketOriginsOf(us)).toEqual([]);
  });

  test("are known to the API's functions, the gateway, the firewall and the bucket", () => {
    const origin = "https://app.example.com";
    const { us: open } = synthesize({ allowedOrigins: [origin], firewall: true });
    for (const headers of corsOf(open)) expect(headers).toEqual([`'${origin}'`, expect.stringContaining("RateLimit")]);
    for (const name of ["get-work-item", "get-health", "reject-unknown-route"]) {
      expect(variablesOf(open, name)).toHaveProperty("ALLOWED_ORIGINS", origin);
    }
    expect(variablesOf(open, "split-upload")).not.toHaveProperty("ALLOWED_ORIGINS");
    expect(bucketOriginsOf(open)).toEqual([origin]);
    expect(JSON.stringify(resourceOf(open, "AWS::WAFv2::WebACL"))).toContain(`"Value":"${origin}"`);
  });

  test("may be several: the gateway's own responses, which are always the same, are then for all", () => {
    const origins = "https://app.example.com,https://admin.example.com";
    const { us: open } = synthesize({ allowedOrigins: origins.split(",") });
    for (const [origin] of corsOf(open)) expect(origin).toBe("'*'");
    expect(variablesOf(open, "get-work-item")).toHaveProperty("ALLOWED_ORIGINS", origins);
    expect(bucketOriginsOf(open)).toEqual(origins.split(","));
  });
});

describe("the limits of methods", () => {
  interface MethodSetting {
    readonly HttpMethod: string;
    readonly ResourcePath: string;
    readonly ThrottlingRateLimit: number;
    readonly ThrottlingBurstLimit: number;
    readonly LoggingLevel: string;
  }
  const settingsOf = (stage: string, own = stages[stage]) =>
    resourceOf(synthesize({ ...own, alarms: "none" }, { stage }).us, "AWS::ApiGateway::Stage")[
      "MethodSettings"
    ] as readonly MethodSetting[];
  const prod = settingsOf("prod");
  const limitOf = (method: string, path: string, settings = prod): number | undefined =>
    settings.find(({ HttpMethod, ResourcePath }) => HttpMethod === method && ResourcePath === path)
      ?.ThrottlingRateLimit;

  test("are those of the class of a call, and unknown paths have the lowest", () => {
    const every = settingsOf("dev", EVERY_SETTING);
    const limits = (settings: readonly MethodSetting[]) => [
      limitOf("GET", "/~1v1~1work_items", settings),
      limitOf("PATCH", "/~1v1~1work_items~1{id}", settings),
      limitOf("POST", "/~1v1~1work_items~1upload", settings),
      limitOf("*", "/*", settings),
    ];
    expect(limits(prod)).toEqual([5000, 2500, 1000, 500]);
    expect(limits(every)).toEqual([8000, 4000, 1001, 700]);
    expect(every.find(({ ThrottlingRateLimit: rate }) => rate === 1001)?.ThrottlingBurstLimit).toBe(501);
    for (const path of ["/~1v1~1health", "/~1docs", "/~1{proxy+}"]) expect(limitOf("GET", path)).toBeUndefined();
  });

  test("let no method alone use up a new account's quota of 10,000 requests a second, 5,000 at once", () => {
    for (const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst, LoggingLevel: level } of prod) {
      expect([rate <= 5000, burst <= 2500, level]).toEqual([true, true, "ERROR"]);
    }
  });

  test("name methods with verbs, and in dev the same as in prod", () => {
    const { us: template } = synthesize();
    const verbs = new Set(
      resourcesOf(template, "AWS::ApiGateway::Method").map(([, { HttpMethod: verb }]) => String(verb)),
    );
    const namesOf = (settings: readonly MethodSetting[]) =>
      settings.map(({ HttpMethod: verb, ResourcePath: path }) => `${verb} ${path}`);
    const [all, ...named] = prod;
    expect(all).toMatchObject({ HttpMethod: "*", ResourcePath: "/*" });
    for (const { HttpMethod: verb } of named) expect([verb, verb !== "ANY" && verbs.has(verb)]).toEqual([verb, true]);
    const dev = settingsOf("dev");
    expect(namesOf(dev)).toEqual(namesOf(prod));
    dev.forEach(({ ThrottlingRateLimit: rate }, index) => {
      expect(rate).toBeLessThan(prod[index]?.ThrottlingRateLimit ?? 0);
    });
  });
});

describe("the firewall", () => {
  test("follows the highest rate of an organization", () => {
    const limitOf = (firewallRate?: number): string =>
      JSON.stringify(
        resourceOf(synthesize({ firewall: true, ...(firewallRate && { firewallRate }) }).us, "AWS::WAFv2::WebACL"),
      );
    expect(limitOf()).toContain('"Limit":60000');
    expect(limitOf(1000)).toContain('"Limit":600000');
  });

  test("exists only where it is configured", () => {
    expect(resourcesOf(us, "AWS::WAFv2::WebACL")).toEqual([]);
  });

  test("only counts and logs what it would block where the setting says so", () => {
    const found = (firewall: true | "count") => {
      const { us: guarded } = synthesize({ firewall });
      const rules = resourceOf(guarded, "AWS::WAFv2::WebACL")["Rules"] as Record<string, object>[];
      const actions = rules.map(({ Action, OverrideAction }) => Object.keys(Action ?? OverrideAction ?? {}));
      const logging = JSON.stringify(resourceOf(guarded, "AWS::WAFv2::LoggingConfiguration")["LoggingFilter"]);
      return [actions, /"Action":"(\w+)"/.exec(logging)?.[1]];
    };
    expect(found(true)).toEqual([[["Block"], ["None"]], "BLOCK"]);
    expect(found("count")).toEqual([[["Count"], ["Count"]], "COUNT"]);
  });

  test("is associated with the stage and responds with the common error body", () => {
    const { us: guarded } = synthesize({ firewall: true });
    const acl = resourceOf(guarded, "AWS::WAFv2::WebACL");
    const bodies = Object.values(
      acl["CustomResponseBodies"] as Record<string, { Content: string; ContentType: string }>,
    );
    for (const { Content, ContentType } of bodies) {
      expect(JSON.parse(Content)).toEqual({ error: expect.any(String) });
      expect(ContentType).toBe("APPLICATION_JSON");
    }
    expect(JSON.stringify(acl["Rules"])).toContain('"Retry-After"');
    expect(plain(resourceOf(guarded, "AWS::WAFv2::WebACLAssociation"))).toMatchObject({
      ResourceArn: expect.stringMatching(/\/restapis\/ApiRestApi.*\/stages\//),
    });
  });
});
