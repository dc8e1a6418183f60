import { join } from "node:path";
import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RegionCode } from "../../lib/regions.ts";
import type { Permissions } from "../../lib/runtime/permissions.ts";
import { nodeOptionsFor } from "./function-memory.ts";
import { bind, type StatefulResources } from "./grants.ts";

/** The gateway gives up after 29 s (its quota for regional APIs): one second less, so that the function's end is its own. */
export const API_TIMEOUT = Duration.seconds(28);
/** A worker hands over at 90 s; what remains is for the window in flight. */
export const WORKER_TIMEOUT = Duration.minutes(2);

/** How every function names itself in logs and in the metrics that it writes into them. */
export const POWERTOOLS = {
  POWERTOOLS_SERVICE_NAME: "work-items",
  POWERTOOLS_METRICS_NAMESPACE: "WorkItems",
} as const;

/** What all functions of one region have in common. */
export interface FunctionSurroundings {
  readonly regionCode: RegionCode;
  readonly resources: StatefulResources;
  /** Where `build.ts` put a directory for each function. */
  readonly bundles: string;
  readonly logRetention: RetentionDays;
  /** Stands above the names of resources that a function gets by itself. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServiceFunctionProps extends FunctionSurroundings {
  /** Of its file in `functions/`. */
  readonly name: string;
  readonly summary: string;
  readonly permissions: Permissions;
  readonly memorySize: number;
  readonly timeout: Duration;
  /** Permissions that the trigger asks for, beside its own. @default none */
  readonly triggerStatements?: readonly PolicyStatement[];
  /** It sends messages to the queue that feeds it. @default false */
  readonly feedsItself?: boolean;
}

/** One Lambda with its bundle, role, log group and trace; its role allows what its row permits and nothing else. */
export class ServiceFunction extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const functionName = `${Stack.of(this).stackName}-${props.name}`;
    const logGroup = new LogGroup(this, "Logs", {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const bindings = bind(props.resources, props.permissions);
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: {
        Permissions: new PolicyDocument({
          statements: [
            ...bindings.flatMap(({ statements }) => statements),
            ...(props.triggerStatements ?? []),
            new PolicyStatement({
              actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
              resources: [logGroup.logGroupArn],
            }),
            new PolicyStatement({ actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], resources: ["*"] }),
          ],
        }),
      },
    });
    this.function = new Function(this, "Function", {
      functionName,
      description: props.summary,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(props.bundles, props.name)),
      handler: "index.handler",
      // Complete above: the construct must not add statements of its own.
      role: role.withoutPolicyUpdates(),
      memorySize: props.memorySize,
      timeout: props.timeout,
      environment: {
        ...Object.fromEntries(bindings.map(({ variable, value }) => [variable, value])),
        ...props.environment,
        ...POWERTOOLS,
        REGION_CODE: props.regionCode,
        NODE_OPTIONS: nodeOptionsFor(props.memorySize),
      },
      ...(props.feedsItself === true && { recursiveLoop: RecursiveLoop.ALLOW }),
      tracing: Tracing.ACTIVE,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // Start, end and report lines say nothing that metrics and traces do not, and would be most of the log.
      systemLogLevelV2: SystemLogLevel.WARN,
    });
    Validations.of(role).acknowledge(
      { id: "AwsSolutions-IAM5[Resource::*]", reason: "X-Ray's two actions accept no resource." },
      ...bindings.flatMap(({ acknowledgments = [] }) => acknowledgments),
    );
  }
}
