import { Logger } from "@aws-lambda-powertools/logger";
import { createS3Client } from "@work-items/lib/aws/s3-client.ts";
import { createSqsClient } from "@work-items/lib/aws/sqs-client.ts";
import { type ResourceName, type ResourceNameOf, resources, resourcesOfKind } from "@work-items/lib/resources.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { clientOptions, type OpenedAdministration } from "./target-tables.ts";

/** What commands on an organization's data work with. */
export type OperatorRuntime = OpenedAdministration & RuntimeWith<ResourceNameOf<"table"> | "uploads">;

/** Name or URL of a resource. @throws UsageError naming the option by which it can be given */
export function nameOf(
  { variables, region }: Pick<OpenedAdministration, "variables" | "region">,
  name: ResourceName,
): string {
  const { variable, id } = resources[name];
  const found = variables[variable];
  if (found !== undefined) return found;
  throw new UsageError(`where is ${id}? Name the stage: --stage prod --region ${region} (or ${variable})`);
}

/** Opens tables and bucket. @throws UsageError naming the option by which a missing one can be given */
export function operatorRuntime(opened: OpenedAdministration): OperatorRuntime {
  const { variables, awsRegion } = opened;
  const s3 = createS3Client(
    { S3_FORCE_PATH_STYLE: variables["S3_FORCE_PATH_STYLE"] === "true" },
    { ...clientOptions(variables, variables["AWS_ENDPOINT_URL_S3"]), region: awsRegion },
  );
  const stores = [...resourcesOfKind("table"), ...resourcesOfKind("bucket")].map(([name]) => name);
  const environment = Object.fromEntries(
    stores.filter((name) => name !== "access").map((name) => [resources[name].variable, nameOf(opened, name)]),
  ) as Omit<OperatorRuntime["environment"], "ACCESS_TABLE">;
  return {
    ...opened,
    s3,
    log: new Logger({ logLevel: "SILENT" }),
    environment: { ...environment, ...opened.environment },
  };
}

/** Opens the queue of changes too. @throws UsageError naming the option by which a missing one can be given */
export function feedRuntime(opened: OpenedAdministration): OperatorRuntime & RuntimeWith<"changesQueue"> {
  const { variables, awsRegion } = opened;
  const runtime = operatorRuntime(opened);
  const sqs = createSqsClient(
    {},
    { ...clientOptions(variables, variables["AWS_ENDPOINT_URL_SQS"]), region: awsRegion },
  );
  return {
    ...runtime,
    sqs,
    environment: { ...runtime.environment, CHANGES_QUEUE_URL: nameOf(opened, "changesQueue") },
  };
}
