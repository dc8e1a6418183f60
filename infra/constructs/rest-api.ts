import { RemovalPolicy, Size, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AwsIntegration,
  type CfnRestApi,
  EndpointType,
  type IResource,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, LogGroup, type MetricFilter, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { allServed, unknownRoute } from "../../functions/routes.ts";
import { methodsOf } from "../../lib/http/route.ts";
import { callClassOf, type RegionSettings } from "../settings/stage-settings.ts";
import { COMPRESSED_FROM_BYTES } from "../limits.ts";
import { GATEWAY_RESPONSES, gatewayHeaders, type GatewayResponseType, gatewayTemplates } from "../gateway-responses.ts";

/** TLS 1.2 or later, with forward secrecy only. */
const SECURITY_POLICY = "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09";

/** Fields of the access log, which has one line for each request. None holds a resource's id or an API key. */
const ACCESS_LOG = {
  requestId: "$context.requestId",
  time: "$context.requestTimeEpoch",
  ip: "$context.identity.sourceIp",
  userAgent: "$context.identity.userAgent",
  method: "$context.httpMethod",
  resource: "$context.resourcePath",
  status: "$context.status",
  bytes: "$context.responseLength",
  latency: "$context.responseLatency",
  functionLatency: "$context.integration.latency",
  functionStatus: "$context.integration.status",
  gatewayResponse: "$context.error.responseType",
  firewall: "$context.waf.status",
  trace: "$context.xrayTraceId",
} as const;

export interface ServiceApiProps {
  readonly stageName: string;
  readonly logRetention: RetentionDays;
  /** Limits of each method, by class, in addition to the functions' limits per organization. */
  readonly throttle: RegionSettings["throttle"];
  /** Key that encrypts the logs. @default none */
  readonly key: Key | undefined;
  /** Whether the account's role for logs is set. All APIs of an account and region write logs by one role. */
  readonly setsLogRole: boolean;
  /** Origins of the pages that may read the gateway's own responses. */
  readonly allowedOrigins: readonly string[];
  /** Whether there is a custom domain: API Gateway's own address is then disabled. */
  readonly hasDomain: boolean;
}

function countStatus(accessLogs: LogGroup, status: string): MetricFilter {
  return accessLogs.addMetricFilter(`Status${status}`, {
    filterPattern: FilterPattern.stringValue("$.status", "=", status),
    metricNamespace: `WorkItems/${Stack.of(accessLogs).stackName}`,
    metricName: `Status${status}`,
    metricValue: "1",
  });
}

/** Settings of a method: its errors are logged, and it has a limit a second, and half of that at once, as the account's quota. */
function methodSettings(rate: number): MethodDeploymentOptions {
  return {
    throttlingRateLimit: rate,
    throttlingBurstLimit: Math.ceil(rate / 2),
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
  };
}

/**
 * The settings of each method with other limits than pages, by its name in the stage. API Gateway documents no setting for
 * `ANY` (https://docs.aws.amazon.com/apigateway/latest/api/API_MethodSetting.html), so unknown paths, and HEAD, have those of
 * the stage.
 */
function namedSettings({ throttle }: Pick<ServiceApiProps, "throttle">) {
  const limited = allServed().filter((route) => callClassOf(route) !== "pages");
  return Object.fromEntries(
    limited.map((route) => [`${route.path}/${route.method}`, methodSettings(throttle[callClassOf(route)])]),
  );
}

/** Adds a response for every gateway response type, with the request id in a header. */
function addGatewayResponses(api: RestApi, allowedOrigins: readonly string[]): void {
  for (const type of Object.keys(GATEWAY_RESPONSES) as GatewayResponseType[]) {
    const { statusCode } = GATEWAY_RESPONSES[type];
    // Quotes make a value constant.
    const headers = Object.entries(gatewayHeaders(type, allowedOrigins)).map(([name, value]) => [name, `'${value}'`]);
    api.addGatewayResponse(`Response${type}`, {
      type: ResponseType.of(type),
      ...(statusCode !== undefined && { statusCode }),
      responseHeaders: { "x-request-id": "context.requestId", ...Object.fromEntries(headers) },
      templates: gatewayTemplates(type),
    });
  }
}

/** The REST API of one region. It sends each route to its function, and everything else to the function that rejects it. */
export class ServiceApi extends Construct {
  readonly api: RestApi;
  readonly accessLogs: LogGroup;
  /** Counts a status in the access log, which has the responses of the functions and of the gateway itself. */
  readonly refused: Readonly<Record<"401" | "429", MetricFilter>>;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { stageName, logRetention, allowedOrigins, throttle, hasDomain, key } = props;
    const logs = { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY, ...(key && { encryptionKey: key }) };
    this.accessLogs = new LogGroup(this, "AccessLogs", {
      ...logs,
      logGroupName: `/aws/apigateway/${Stack.of(this).stackName}`,
    });
    this.refused = { "401": countStatus(this.accessLogs, "401"), "429": countStatus(this.accessLogs, "429") };
    this.api = new RestApi(this, "RestApi", {
      restApiName: Stack.of(this).stackName,
      description: "Work item ingestion and retrieval",
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: hasDomain,
      // All bodies arrive in base64: bytes that aren't UTF-8 stay unchanged, and every body grows by the same factor.
      binaryMediaTypes: ["*/*"],
      // Responses are compressed here, not in the functions, whose time costs more.
      minCompressionSize: Size.bytes(COMPRESSED_FROM_BYTES),
      // A new account has no such role yet.
      cloudWatchRole: props.setsLogRole,
      deployOptions: {
        stageName,
        // The stage's settings are those of each method, not of the whole API
        // (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html).
        ...methodSettings(throttle.pages),
        methodOptions: namedSettings(props),
        tracingEnabled: true,
        accessLogDestination: new LogGroupLogDestination(this.accessLogs),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    // The stack has an output with the custom domain name instead.
    this.api.node.tryRemoveChild("Endpoint");
    const resource = this.api.node.defaultChild as CfnRestApi;
    resource.securityPolicy = SECURITY_POLICY;
    resource.endpointAccessMode = "BASIC";
    // Otherwise API Gateway would create this log group itself and never expire its logs.
    const errorLogs = new LogGroup(this, "ErrorLogs", {
      ...logs,
      logGroupName: `API-Gateway-Execution-Logs_${this.api.restApiId}/${stageName}`,
    });
    this.api.deploymentStage.node.addDependency(errorLogs);
    addGatewayResponses(this.api, allowedOrigins);
    this.acknowledge();
  }

  /** Adds a method for each served one. @param functions by name */
  serve(functions: ReadonlyMap<string, Function>): void {
    const role = this.invoker([...functions.values()]);
    const integrationOf = (name: string): AwsIntegration =>
      new AwsIntegration({
        service: "lambda",
        proxy: true,
        path: `2015-03-31/functions/${functions.get(name)!.functionArn}/invocations`,
        options: { credentialsRole: role },
      });
    const resources = new Set<IResource>([this.api.root.addResource("{proxy+}")]);
    for (const { name, path, ...route } of allServed()) {
      const resource = this.api.root.resourceForPath(path);
      const integration = integrationOf(name);
      for (const method of methodsOf(route)) resource.addMethod(method, integration);
      for (let part: IResource | undefined = resource; part !== undefined; part = part.parentResource)
        resources.add(part);
    }
    const reject = integrationOf(unknownRoute.name);
    for (const resource of resources) resource.addMethod("ANY", reject);
  }

  /** The role by which the gateway invokes functions. Otherwise each method would need a resource for its permission. */
  private invoker(functions: readonly Function[]): Role {
    const invoke = new PolicyStatement({
      actions: ["lambda:InvokeFunction"],
      resources: functions.map(({ functionArn }) => functionArn),
    });
    return new Role(this, "Invoker", {
      assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
      inlinePolicies: { Invoke: new PolicyDocument({ statements: [invoke] }) },
    });
  }

  private acknowledge(): void {
    Validations.of(this.api).acknowledge(
      {
        id: "AwsSolutions-APIG2",
        reason:
          "The functions validate with the schemas of the OpenAPI document, so that a 422 names every offending path.",
      },
      {
        id: "AwsSolutions-APIG4",
        reason:
          "The functions authenticate organization API keys themselves: a gateway authorizer can't return 404 and 405 before 401.",
      },
      {
        id: "AwsSolutions-COG4",
        reason: "Callers are systems that hold an organization's API key, not people who sign in.",
      },
      {
        id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
        reason: "API Gateway writes logs with one role of the whole account; AWS documents this policy for it.",
      },
    );
  }
}
