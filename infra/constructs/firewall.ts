import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";

/**
 * Twice what an organization's ordinary limit of 100 requests a second comes to in the window,
 * so that only what no limit of ours allows is refused here.
 */
const REQUESTS_PER_ADDRESS = 60_000;
const WINDOW_SECONDS = 300;
const TOO_MANY = "TooManyRequests";

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});

/**
 * Refuses floods and addresses of ill repute. No rule looks into bodies or parameters: work items carry whatever
 * customers' systems say, and validation stands behind. What the reputation list blocks is answered by the gateway's WAF_FILTERED response.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, api: RestApi) {
    super(scope, id);
    const acl = new CfnWebACL(this, "Acl", {
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      visibilityConfig: visibility("Firewall"),
      customResponseBodies: {
        [TOO_MANY]: {
          contentType: "APPLICATION_JSON",
          content: JSON.stringify({ error: `rate limit exceeded; retry after ${WINDOW_SECONDS} s` }),
        },
      },
      rules: [
        {
          name: "RequestsPerAddress",
          priority: 0,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: "IP",
              limit: REQUESTS_PER_ADDRESS,
              evaluationWindowSec: WINDOW_SECONDS,
            },
          },
          action: {
            block: {
              customResponse: {
                responseCode: 429,
                customResponseBodyKey: TOO_MANY,
                responseHeaders: [{ name: "Retry-After", value: String(WINDOW_SECONDS) }],
              },
            },
          },
          visibilityConfig: visibility("RequestsPerAddress"),
        },
        {
          name: "AddressReputation",
          priority: 1,
          statement: {
            managedRuleGroupStatement: { vendorName: "AWS", name: "AWSManagedRulesAmazonIpReputationList" },
          },
          overrideAction: { none: {} },
          visibilityConfig: visibility("AddressReputation"),
        },
      ],
    });
    new CfnWebACLAssociation(this, "Association", {
      webAclArn: acl.attrArn,
      resourceArn: api.deploymentStage.stageArn,
    });
  }
}
