import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import {
  mapResources,
  PARTITION_KEY,
  type ResourceNameOf,
  SORT_KEY,
  type TableResource,
  TIME_TO_LIVE,
} from "../../lib/resources.ts";

const key = (name: string) => ({ name, type: AttributeType.STRING });

/** The tables of one region. */
export class Tables extends Construct {
  readonly tables: Readonly<Record<ResourceNameOf<"table">, Table>>;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.tables = mapResources("table", (resource) => this.table(resource));
  }

  private table({ id, indexes }: TableResource): Table {
    const table = new Table(this, id, {
      partitionKey: key(PARTITION_KEY),
      sortKey: key(SORT_KEY),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TIME_TO_LIVE,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const [indexName, { partitionKey, sortKey, projection }] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: key(partitionKey),
        sortKey: key(sortKey),
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...projection],
      });
    }
    return table;
  }
}
