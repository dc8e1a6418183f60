import { Duration, NestedStack, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { Alarm, ComparisonOperator, MathExpression, Metric, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type Function, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { SERVER_ERRORS } from "../../lib/http/chain.ts";
import { powertoolsOf } from "./service-function.ts";

/** Name of the alias that the gateway calls. */
const SERVING = "serving";
const MINUTE = Duration.minutes(1);
/** As long as a new version gets a tenth of the requests. */
const CANARY = Duration.minutes(5);

const FAILURES = "FILL(failures, 0) + FILL(crashes, 0)";

/** Failed calls of one version of a function: 5xx responses, and calls that crashed or ran out of time. */
function failuresOf(target: Function, route: string): MathExpression {
  const { version } = target.currentVersion;
  const { POWERTOOLS_METRICS_NAMESPACE: namespace, POWERTOOLS_SERVICE_NAME: service } = powertoolsOf(Stack.of(target));
  const sum = { statistic: Stats.SUM, period: CANARY };
  const ofLambda = (metricName: string): Metric =>
    new Metric({
      namespace: "AWS/Lambda",
      metricName,
      dimensionsMap: {
        FunctionName: target.functionName,
        Resource: `${target.functionName}:${SERVING}`,
        ExecutedVersion: version,
      },
      ...sum,
    });
  return new MathExpression({
    // Of few calls two failures are enough, so that an endpoint with a twentieth of the requests is noticed too.
    expression: `IF(calls > 40, 20 * (${FAILURES}) / calls, (${FAILURES}) / 2)`,
    usingMetrics: {
      calls: ofLambda("Invocations"),
      crashes: ofLambda("Errors"),
      failures: new Metric({
        namespace,
        metricName: SERVER_ERRORS,
        dimensionsMap: { service, route, version },
        ...sum,
      }),
    },
    period: CANARY,
    label: "Failed calls of the new version",
  });
}

/**
 * Canary rollout of the API's functions: a new version gets 10 % of the requests for five minutes, then all. If the API
 * or the new version fails in that time, CodeDeploy shifts the requests back, and CloudFormation rolls back the rest of
 * the deployment.
 *
 * It is a nested stack, because it has three resources for each function.
 */
export class Rollout extends NestedStack {
  private readonly application: LambdaApplication;
  private readonly role: Role;
  /** Fires while the API fails; that ends rollouts under way. */
  private readonly alarm: Alarm;
  /** That alarm and those of single functions. */
  readonly alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, { api }: { readonly api: RestApi }) {
    super(scope, id);
    this.application = new LambdaApplication(this, "Application");
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    const sum = { statistic: Stats.SUM, period: MINUTE };
    this.alarm = new Alarm(this, "Failing", {
      alarmName: `${Stack.of(api).stackName}-Rollout`,
      alarmDescription: "Ends the rollout of a new version: more than one request in a hundred fails with a 5xx.",
      metric: new MathExpression({
        // A tenth of the requests reach the new version. In a quiet minute three errors are enough.
        expression: "IF(requests > 300, 100 * errors / requests, errors / 3)",
        usingMetrics: { requests: api.metricCount(sum), errors: api.metricServerError(sum) },
        period: MINUTE,
        label: "5xx, % of requests",
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.alarms.push(this.alarm);
    Validations.of(this.role).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason: "AWS documents this policy for CodeDeploy with Lambda.",
    });
  }

  /** The alias of a function, which the gateway calls in its place. @param route its name in logs and metrics */
  aliasOf(target: Function, route: string): IFunction {
    const id = target.node.scope?.node.id ?? target.node.id;
    // The CDK's own types are not exact about optional properties.
    const version = target.currentVersion as IVersion;
    // Kept for manual rollbacks.
    target.currentVersion.applyRemovalPolicy(RemovalPolicy.RETAIN);
    const alias = new Alias(this, `${id}Alias`, { aliasName: SERVING, version });
    const failing = new Alarm(this, `${id}Failing`, {
      alarmName: `${powertoolsOf(Stack.of(target)).POWERTOOLS_SERVICE_NAME}-${route}-Rollout`,
      alarmDescription: "Ends the rollout of this function's new version: two of its calls, or 5 % of many, fail.",
      metric: failuresOf(target, route),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.alarms.push(failing);
    new LambdaDeploymentGroup(this, `${id}Group`, {
      application: this.application,
      alias,
      role: this.role,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [this.alarm, failing],
    });
    return alias as IFunction;
  }
}
