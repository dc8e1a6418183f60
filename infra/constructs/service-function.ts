import { join } from "node:path";
import { type Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
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
import type { Key } from "aws-cdk-lib/aws-kms";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import manifest from "../../package.json" with { type: "json" };
import type { RegionCode } from "../../lib/regions.ts";
import type { Permissions } from "../../lib/aws/permissions.ts";
import { nodeOptionsFor } from "../limits.ts";
import { bind, type Binding, type StatefulResources } from "./grants.ts";
import { useOf } from "./service-key.ts";

/** Variables that name the stack in the functions' logs and metrics. Two stages may share an account and a region. */
export function powertoolsOf({ stackName }: Stack) {
  return {
    POWERTOOLS_SERVICE_NAME: stackName,
    POWERTOOLS_METRICS_NAMESPACE: "WorkItems",
  };
}

/** Properties that all functions of one region share. */
export interface SharedFunctionProps {
  readonly regionCode: RegionCode;
  readonly resources: StatefulResources;
  /** Directory with the functions' bundles, see `build.ts`. */
  readonly bundles: string;
  readonly logRetention: RetentionDays;
  /** Key that encrypts resources and logs. @default none */
  readonly key: Key | undefined;
  /** Environment variables; they override the variables that name the function's resources. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServiceFunctionProps extends SharedFunctionProps {
  /** Name of its file in `functions/`. */
  readonly name: string;
  readonly summary: string;
  readonly permissions: Permissions;
  readonly memorySize: number;
  readonly timeout: Duration;
  /** What its trigger requires, in addition to `permissions`. @default nothing */
  readonly trigger?: Omit<Binding, "variables"> | undefined;
  /** Its reserved concurrency, which is also its maximum. @default none */
  readonly concurrency?: number | undefined;
  /** Whether it sends messages to the queue that triggers it. @default false */
  readonly feedsItself?: boolean;
}

/** One Lambda function with its bundle, role, log group and tracing. The role allows only what `permissions` says. */
export class ServiceFunction extends Construct {
  readonly function: Function;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const functionName = `${Stack.of(this).stackName}-${props.name}`;
    const logGroup = new LogGroup(this, "Logs", {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(props.key && { encryptionKey: props.key }),
    });
    this.logGroup = logGroup;
    const bindings = bind(props.resources, props.permissions);
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
      inlinePolicies: {
        Permissions: new PolicyDocument({
          statements: [
            ...bindings.flatMap(({ statements }) => statements),
            ...(props.trigger?.statements ?? []),
            ...(props.key && bindings.length > 0 ? [useOf(props.key)] : []),
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
      // The policy above is complete: the construct must not add its own statements.
      role: role.withoutPolicyUpdates(),
      memorySize: props.memorySize,
      timeout: props.timeout,
      environment: {
        ...Object.assign({}, ...bindings.map(({ variables }) => variables)),
        ...props.environment,
        ...powertoolsOf(Stack.of(this)),
        VERSION: manifest.version,
        REGION_CODE: props.regionCode,
        NODE_OPTIONS: nodeOptionsFor(props.memorySize),
      },
      ...(props.concurrency !== undefined && { reservedConcurrentExecutions: props.concurrency }),
      ...(props.feedsItself === true && { recursiveLoop: RecursiveLoop.ALLOW }),
      tracing: Tracing.ACTIVE,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // The platform's start, end and report lines repeat metrics and traces, and would be most of the log.
      systemLogLevelV2: SystemLogLevel.WARN,
    });
    Validations.of(role).acknowledge(
      { id: "AwsSolutions-IAM5[Resource::*]", reason: "X-Ray's two actions accept no resource." },
      ...[...bindings, props.trigger].flatMap((binding) => binding?.acknowledgments ?? []),
    );
  }
}
