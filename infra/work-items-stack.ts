import { CfnOutput, Stack, type StackProps, Tags } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { allRoutes, type Route } from "../functions/routes.ts";
import { allWorkers } from "../functions/workers.ts";
import { REJECT_UNKNOWN_ROUTE } from "./build.ts";
import type { Parts } from "./constructs/grants.ts";
import { WorkQueue } from "./constructs/queues.ts";
import { ServiceApi } from "./constructs/rest-api.ts";
import { API_TIMEOUT, MEMORY_MB, ServiceFunction } from "./constructs/service-function.ts";
import { Tables } from "./constructs/tables.ts";
import { UploadBucket } from "./constructs/upload-bucket.ts";
import { addWorker, type WorkQueues } from "./constructs/workers.ts";
import { REGIONS, type RegionCode, type Settings } from "./settings.ts";

const LOG_RETENTION = { dev: RetentionDays.ONE_WEEK, prod: RetentionDays.THREE_MONTHS } as const;

const toPascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

export interface WorkItemsStackProps extends StackProps {
  readonly regionCode: RegionCode;
  readonly settings: Settings;
}

/** The whole service in one region; no other region has a part in it. */
export class WorkItemsStack extends Stack {
  constructor(scope: Construct, id: string, { regionCode, settings, ...props }: WorkItemsStackProps) {
    super(scope, id, {
      ...props,
      env: { region: REGIONS[regionCode] },
      description: `Work item ingestion and retrieval (${regionCode}, ${settings.stage})`,
      terminationProtection: settings.stage === "prod",
    });
    Tags.of(this).add("service", "work-items");
    Tags.of(this).add("stage", settings.stage);

    const logRetention = LOG_RETENTION[settings.stage];
    const api = new ServiceApi(this, "Api", { stageName: settings.stage, logRetention });
    const tables = new Tables(this, "Tables");
    const queues: WorkQueues = {
      splitQueue: new WorkQueue(this, "SplitQueue"),
      partsQueue: new WorkQueue(this, "PartsQueue"),
    };
    const { bucket } = new UploadBucket(this, "Uploads", {
      queue: queues.splitQueue.queue,
      origins: [`https://${api.api.restApiId}.execute-api.${this.region}.amazonaws.com`],
    });
    const parts: Parts = {
      workItems: tables.workItems,
      access: tables.access,
      limits: tables.limits,
      uploads: bucket,
      splitQueue: queues.splitQueue.queue,
      partsQueue: queues.partsQueue.queue,
    };
    const surroundings = { regionCode, parts, logRetention };

    const functionOf = ({
      name,
      summary,
      touches,
      bodyKind,
    }: Pick<Route, "name" | "summary" | "touches" | "bodyKind">) =>
      new ServiceFunction(this, toPascalCase(name), {
        ...surroundings,
        name,
        summary,
        touches,
        memorySize: bodyKind === "none" ? MEMORY_MB.reads : MEMORY_MB.computes,
        timeout: API_TIMEOUT,
      }).function;
    const rejectUnknownRoute = functionOf({
      name: REJECT_UNKNOWN_ROUTE,
      summary: "Answers 404 and 405",
      touches: {},
      bodyKind: "none",
    });
    api.serve(allRoutes, functionOf, rejectUnknownRoute);
    for (const worker of allWorkers) addWorker(this, toPascalCase(worker.name), { ...surroundings, worker, queues });

    for (const [name, value] of Object.entries({
      ApiUrl: api.api.url,
      WorkItemsTable: tables.workItems.tableName,
      AccessTable: tables.access.tableName,
      LimitsTable: tables.limits.tableName,
      UploadsBucket: bucket.bucketName,
      SplitQueueUrl: queues.splitQueue.queue.queueUrl,
      PartsQueueUrl: queues.partsQueue.queue.queueUrl,
    })) {
      new CfnOutput(this, name, { value });
    }
  }
}
