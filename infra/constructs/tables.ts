import { RemovalPolicy } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import type { Key } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import {
  mapResources,
  PARTITION_KEY,
  type ResourceNameOf,
  SORT_KEY,
  type TableResource,
  TIME_TO_LIVE,
} from "../../lib/resources.ts";

function attribute(name: string) {
  return { name, type: AttributeType.STRING };
}

/** The tables of one region. */
export class Tables extends Construct {
  private readonly key: Key | undefined;
  readonly tables: Readonly<Record<ResourceNameOf<"table">, Table>>;

  constructor(scope: Construct, id: string, key: Key | undefined) {
    super(scope, id);
    this.key = key;
    this.tables = mapResources("table", (resource) => this.table(resource));
  }

  private table({ id, indexes, stream, replicated, keepsAll }: TableResource): Table {
    const table = new Table(this, id, {
      partitionKey: attribute(PARTITION_KEY),
      sortKey: attribute(SORT_KEY),
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(keepsAll !== true && { timeToLiveAttribute: TIME_TO_LIVE }),
      ...(this.key === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: this.key }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      ...(stream && { stream: StreamViewType.KEYS_ONLY }),
      // Without it, DynamoDB adds no replica. It stays without `backup` too: a table with a replica can't lose it.
      ...(replicated && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
    });
    for (const [indexName, { partitionKey, sortKey, projection }] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: attribute(partitionKey),
        sortKey: attribute(sortKey),
        ...(projection
          ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...projection] }
          : { projectionType: ProjectionType.KEYS_ONLY }),
      });
    }
    return table;
  }
}
