import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import {
  LISTING_INDEX,
  LISTING_PARTITION_KEY,
  LISTING_PROJECTION,
  LISTING_SORT_KEY,
  PARTITION_KEY,
  SORT_KEY,
  TIME_TO_LIVE,
} from "../../lib/aws/tables.ts";

const key = (name: string) => ({ name, type: AttributeType.STRING });

/** Three tables, so that no API function's policy can mint a key or touch what it does not own. */
export class Tables extends Construct {
  readonly workItems: Table;
  /** API keys and organizations: written by the command line alone. */
  readonly access: Table;
  /** Rate-limit records. */
  readonly limits: Table;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.workItems = this.table("WorkItems");
    this.workItems.addGlobalSecondaryIndex({
      indexName: LISTING_INDEX,
      partitionKey: key(LISTING_PARTITION_KEY),
      sortKey: key(LISTING_SORT_KEY),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...LISTING_PROJECTION],
    });
    this.access = this.table("Access");
    this.limits = this.table("Limits");
  }

  private table(id: string): Table {
    return new Table(this, id, {
      partitionKey: key(PARTITION_KEY),
      sortKey: key(SORT_KEY),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TIME_TO_LIVE,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}
