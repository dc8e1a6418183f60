import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { Alarm, ComparisonOperator, MathExpression, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type Function, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";

/** Name of the alias that the gateway calls. */
const LIVE = "live";
const MINUTE = Duration.minutes(1);

/**
 * Canary rollout of the API's functions: a new version gets 10 % of the requests for five minutes, then all. If the API
 * fails in that time, CodeDeploy shifts the requests back, and CloudFormation rolls back the rest of the deployment.
 */
export class Rollout extends Construct {
  private readonly application: LambdaApplication;
  private readonly role: Role;
  /** Fires while the API fails; that ends rollouts under way. */
  readonly alarm: Alarm;

  constructor(scope: Construct, id: string, { api }: { readonly api: RestApi }) {
    super(scope, id);
    this.application = new LambdaApplication(this, "Application");
    this.role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    const sum = { statistic: Stats.SUM, period: MINUTE };
    this.alarm = new Alarm(this, "Failing", {
      alarmName: `${Stack.of(this).stackName}-RolloutFailing`,
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
    Validations.of(this.role).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason: "AWS documents this policy for CodeDeploy with Lambda.",
    });
  }

  /** The alias of a function, which the gateway calls in its place. */
  aliasOf(target: Function): IFunction {
    // The CDK's own types are not exact about optional properties.
    const version = target.currentVersion as IVersion;
    // Kept for manual rollbacks.
    target.currentVersion.applyRemovalPolicy(RemovalPolicy.RETAIN);
    const alias = new Alias(target, "Live", { aliasName: LIVE, version });
    new LambdaDeploymentGroup(target, "Rollout", {
      application: this.application,
      alias,
      role: this.role,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [this.alarm],
    });
    return alias as IFunction;
  }
}
