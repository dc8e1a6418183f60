import { ArnFormat, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import type { Key } from "aws-cdk-lib/aws-kms";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";
import { RateLimitExceededError } from "../../lib/errors.ts";
import { fixedCorsHeaders } from "../gateway-responses.ts";

const WINDOW_SECONDS = 300;
/** An organization may send bursts above its rate, and have several callers behind one address. */
const TIMES_THE_RATE = 2;
const TOO_MANY = "TooManyRequests";

function visibility(metricName: string) {
  return {
    metricName,
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: true,
  };
}

export interface FirewallProps {
  readonly api: RestApi;
  /** The highest rate of an organization, in requests a second. */
  readonly rate: number;
  /** Whether it counts and logs what it would block, and lets it pass. */
  readonly onlyCounts: boolean;
  /** Origins of the pages that may read its responses. */
  readonly allowedOrigins: readonly string[];
  readonly logRetention: RetentionDays;
  /** Key that encrypts the logs. @default none */
  readonly key: Key | undefined;
}

/**
 * Blocks floods of requests and addresses with a bad reputation, or only counts them. No rule inspects bodies or parameters: work items may
 * contain any text, and the functions validate it. Requests from bad addresses get the gateway's WAF_FILTERED response.
 * Blocked requests are logged without API keys.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    const { api, rate, onlyCounts, allowedOrigins, logRetention, key } = props;
    const block = {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: TOO_MANY,
        responseHeaders: Object.entries({
          "Retry-After": String(WINDOW_SECONDS),
          ...fixedCorsHeaders(allowedOrigins),
        }).map(([name, value]) => ({ name, value })),
      },
    };
    const acl = new CfnWebACL(this, "Acl", {
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      visibilityConfig: visibility("Firewall"),
      customResponseBodies: {
        [TOO_MANY]: {
          contentType: "APPLICATION_JSON",
          content: JSON.stringify({ error: new RateLimitExceededError(WINDOW_SECONDS).message }),
        },
      },
      rules: [
        {
          name: "RequestsPerAddress",
          priority: 0,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: "IP",
              limit: TIMES_THE_RATE * rate * WINDOW_SECONDS,
              evaluationWindowSec: WINDOW_SECONDS,
            },
          },
          action: onlyCounts ? { count: {} } : { block },
          visibilityConfig: visibility("RequestsPerAddress"),
        },
        {
          name: "AddressReputation",
          priority: 1,
          statement: {
            managedRuleGroupStatement: { vendorName: "AWS", name: "AWSManagedRulesAmazonIpReputationList" },
          },
          overrideAction: onlyCounts ? { count: {} } : { none: {} },
          visibilityConfig: visibility("AddressReputation"),
        },
      ],
    });
    const stack = Stack.of(this);
    // WAF only writes to log groups with this prefix.
    const logGroupName = `aws-waf-logs-${stack.stackName}`;
    const logs = new LogGroup(this, "Logs", {
      logGroupName,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(key && { encryptionKey: key }),
    });
    const logging = new CfnLoggingConfiguration(this, "Logging", {
      resourceArn: acl.attrArn,
      // Without the `:*` of the construct's own ARN, which WAF rejects.
      logDestinationConfigs: [
        stack.formatArn({
          service: "logs",
          resource: "log-group",
          resourceName: logGroupName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      redactedFields: [{ singleHeader: { Name: "authorization" } }],
      loggingFilter: {
        DefaultBehavior: "DROP",
        Filters: [
          {
            Behavior: "KEEP",
            Requirement: "MEETS_ANY",
            Conditions: [{ ActionCondition: { Action: onlyCounts ? "COUNT" : "BLOCK" } }],
          },
        ],
      },
    });
    logging.node.addDependency(logs);
    new CfnWebACLAssociation(this, "Association", {
      webAclArn: acl.attrArn,
      resourceArn: api.deploymentStage.stageArn,
    });
  }
}
