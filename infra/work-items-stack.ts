import { CfnOutput, Stack, type StackProps, Tags, Validations } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { allRoutes, type Route } from "../functions/routes.ts";
import { type Worker, workers } from "../functions/workers.ts";
import { REJECT_UNKNOWN_ROUTE } from "./build.ts";
import { Alarms } from "./constructs/alarms.ts";
import { ApiDomain } from "./constructs/api-domain.ts";
import { addDashboard } from "./constructs/dashboard.ts";
import { Firewall } from "./constructs/firewall.ts";
import { MEMORY_MB } from "./constructs/function-memory.ts";
import type { Parts } from "./constructs/grants.ts";
import { serviceMetrics } from "./constructs/metrics.ts";
import { WorkQueue } from "./constructs/queues.ts";
import { ServiceApi } from "./constructs/rest-api.ts";
import { API_TIMEOUT, ServiceFunction } from "./constructs/service-function.ts";
import { Tables } from "./constructs/tables.ts";
import { UploadBucket } from "./constructs/upload-bucket.ts";
import { addWorker, type WorkQueues } from "./constructs/workers.ts";
import { REGIONS, type RegionCode, type Settings } from "./settings.ts";

const LOG_RETENTION = { dev: RetentionDays.ONE_WEEK, prod: RetentionDays.THREE_MONTHS } as const;

const NO_FIREWALL = {
  id: "AwsSolutions-APIG3",
  reason:
    "A firewall is the operator's choice (-c waf=true): it costs by the request, and every request needs a key anyway.",
};

const toPascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

export interface WorkItemsStackProps extends StackProps {
  readonly regionCode: RegionCode;
  readonly settings: Settings;
  /** Where `build.ts` put a directory for each function. */
  readonly bundles: string;
}

/** The whole service in one region; no other region has a part in it. */
export class WorkItemsStack extends Stack {
  constructor(scope: Construct, stackName: string, { regionCode, settings, bundles, ...props }: WorkItemsStackProps) {
    super(scope, stackName, {
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
    const domain = settings.domains[regionCode];
    const origins = [
      ...(domain === undefined ? [] : [domain.host]),
      `${api.api.restApiId}.execute-api.${this.region}.amazonaws.com`,
    ];
    const { bucket } = new UploadBucket(this, "Uploads", {
      queue: queues.splitQueue.queue,
      origins: origins.map((host) => `https://${host}`),
    });
    const parts: Parts = {
      workItems: tables.workItems,
      access: tables.access,
      limits: tables.limits,
      uploads: bucket,
      splitQueue: queues.splitQueue.queue,
      partsQueue: queues.partsQueue.queue,
    };
    const surroundings = { regionCode, parts, bundles, logRetention, environment: settings.environment };

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

    const workerFunctionOf = (worker: Worker) =>
      addWorker(this, toPascalCase(worker.name), { ...surroundings, worker, queues }).function;
    const { sweepUploads, failDeadUpload, ...others } = workers;
    const metrics = serviceMetrics({
      api: api.api,
      parts,
      queues,
      sweepUploads: workerFunctionOf(sweepUploads),
      failDeadUpload: workerFunctionOf(failDeadUpload),
    });
    for (const worker of Object.values(others)) workerFunctionOf(worker);

    if (settings.waf) new Firewall(this, "Firewall", api.api);
    else Validations.of(api.api).acknowledge(NO_FIREWALL);
    const name = domain && new ApiDomain(this, "Domain", { api: api.api, domain }).domainName;
    const { topic, alarms } = new Alarms(this, "Alarms", { metrics, email: settings.alarmEmail });
    addDashboard(this, "Dashboard", metrics, alarms);

    const outputs = {
      ApiUrl: domain === undefined ? api.api.url : `https://${domain.host}/`,
      ...(name && { DomainTarget: name.domainNameAliasDomainName }),
      WorkItemsTable: tables.workItems.tableName,
      AccessTable: tables.access.tableName,
      LimitsTable: tables.limits.tableName,
      UploadsBucket: bucket.bucketName,
      SplitQueueUrl: queues.splitQueue.queue.queueUrl,
      PartsQueueUrl: queues.partsQueue.queue.queueUrl,
      SplitDeadLettersUrl: queues.splitQueue.deadLetters.queueUrl,
      PartsDeadLettersUrl: queues.partsQueue.deadLetters.queueUrl,
      AlarmTopic: topic.topicArn,
    };
    for (const [id, value] of Object.entries(outputs)) new CfnOutput(this, id, { value });
  }
}
