import { CfnOutput, Duration, Stack, type StackProps, Tags, Validations } from "aws-cdk-lib";
import type { Function } from "aws-cdk-lib/aws-lambda";
import type { ILogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { pages } from "../functions/pages.ts";
import { gatewayFunctions } from "../functions/routes.ts";
import { allWorkers, type Worker } from "../functions/workers.ts";
import { type RegionCode, stackIdOf } from "../lib/regions.ts";
import { mapResources, resourcesOfKind } from "../lib/resources.ts";
import { DATA_VERSION } from "../lib/store/data-version.ts";
import { Alarms } from "./constructs/alarms.ts";
import { ApiDomain } from "./constructs/api-domain.ts";
import { AuditTrail } from "./constructs/audit-trail.ts";
import { Backup } from "./constructs/backup.ts";
import { callClassOf, type RegionSettings } from "./settings/stage-settings.ts";
import { addDashboard } from "./constructs/dashboard.ts";
import { Firewall } from "./constructs/firewall.ts";
import { originOf, type StatefulResources } from "./constructs/grants.ts";
import { serviceMetrics } from "./constructs/metrics.ts";
import { WorkQueue } from "./constructs/queues.ts";
import { ServiceApi } from "./constructs/rest-api.ts";
import { SavedQueries } from "./constructs/saved-queries.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import { addServiceKey } from "./constructs/service-key.ts";
import { Tables } from "./constructs/tables.ts";
import { UploadBucket } from "./constructs/upload-bucket.ts";
import { addWorker } from "./constructs/worker-function.ts";
import type { Variables } from "./terminal/environment-file.ts";
import { API_TIMEOUT_SECONDS, MEMORY_MB } from "./limits.ts";
import { tagsOf } from "./settings/setting-tags.ts";
import { stackNameOf } from "./settings/settings.ts";

const NO_FIREWALL = {
  id: "AwsSolutions-APIG3",
  reason:
    "A firewall is the operator's choice (firewall in infra/stages.ts): it costs by the request, and every request needs a key anyway.",
};

function toPascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}

export interface WorkItemsStackProps extends StackProps {
  readonly regionCode: RegionCode;
  readonly settings: RegionSettings;
  /** Environment variables of all functions, if they run outside AWS. */
  readonly environment: Variables;
  /** Directory with the functions' bundles, see `build.ts`. */
  readonly bundles: string;
}

/** The whole service in one region. It depends on no other region. */
export class WorkItemsStack extends Stack {
  constructor(scope: Construct, { regionCode, settings, environment, bundles, ...props }: WorkItemsStackProps) {
    super(scope, stackIdOf(regionCode), {
      ...props,
      stackName: stackNameOf(regionCode, settings.stage),
      env: { region: settings.awsRegion, ...(settings.account !== undefined && { account: settings.account }) },
      description: `Work item ingestion and retrieval (${regionCode}, ${settings.stage})`,
      terminationProtection: settings.terminationProtection,
      tags: tagsOf(settings),
    });
    // For cfn-lint, which `sam validate --lint` runs: the CDK names dependencies that references imply anyway.
    this.templateOptions.metadata = { "cfn-lint": { config: { ignore_checks: ["W3005"] } } };
    Tags.of(this).add("service", "work-items");
    Tags.of(this).add("stage", settings.stage);

    const { stage: stageName, allowedOrigins, domain, smallAccount, concurrency } = settings;
    const key = settings.customerKey ? addServiceKey(this, "DataKey") : undefined;
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the compiler compares all days that settings take
    const logRetention: RetentionDays = settings.logDays;
    const api = new ServiceApi(this, "Api", {
      stageName,
      logRetention,
      allowedOrigins,
      throttle: settings.throttle,
      hasDomain: domain !== undefined,
      setsLogRole: settings.gatewayLogRole === undefined,
      key,
    });
    const { tables } = new Tables(this, "Tables", key);
    const queues = mapResources("queue", (resource) => new WorkQueue(this, resource, key));
    const host = domain?.host ?? `${api.api.restApiId}.execute-api.${this.region}.amazonaws.com`;
    const buckets = mapResources(
      "bucket",
      (resource) =>
        new UploadBucket(this, {
          resource,
          queue: queues[resource.notifies.queue].queue,
          key,
          origins: [`https://${host}`, ...allowedOrigins],
        }).bucket,
    );
    const stream = settings.stream ?? tables.workItems.tableStreamArn ?? "";
    const resources: StatefulResources = { tables, buckets, queues, stream };
    const sharedProps = { regionCode, resources, bundles, logRetention, environment, key };
    const apiEnvironment = {
      ...(allowedOrigins.length > 0 && { ALLOWED_ORIGINS: allowedOrigins.join(",") }),
      ...environment,
    };

    const logGroups: ILogGroup[] = [];
    const keepLogGroup = ({ function: target, logGroup }: ServiceFunction): Function => {
      logGroups.push(logGroup);
      return target;
    };
    const apiFunctions = gatewayFunctions().map(({ name, summary, permissions, bodyKind, ...row }) => {
      const target = keepLogGroup(
        new ServiceFunction(this, toPascalCase(name), {
          ...sharedProps,
          environment: apiEnvironment,
          name,
          summary,
          permissions,
          memorySize: bodyKind === "none" ? MEMORY_MB.reads : MEMORY_MB.computes,
          timeout: Duration.seconds(API_TIMEOUT_SECONDS),
          concurrency: concurrency[callClassOf(row)],
        }),
      );
      if (name === pages.name) target.addEnvironment("BUCKET_ORIGIN", originOf(buckets.uploads));
      return [name, target] as const;
    });
    api.serve(new Map(apiFunctions));

    const workerFunctionOf = (worker: Worker) =>
      keepLogGroup(
        addWorker(this, toPascalCase(worker.name), {
          ...sharedProps,
          worker,
          smallAccount,
          maximumConcurrency: concurrency.workers,
        }),
      );
    const workerFunctions = new Map(allWorkers.map((worker) => [worker.name, workerFunctionOf(worker)]));
    const metrics = serviceMetrics({ api, domain, resources, workerFunctions });

    if (settings.firewall !== false) {
      const [rate, onlyCounts] = [settings.firewallRate, settings.firewall === "count"];
      new Firewall(this, "Firewall", { api: api.api, rate, onlyCounts, allowedOrigins, logRetention, key });
    } else Validations.of(api.api).acknowledge(NO_FIREWALL);
    const domainName = domain && new ApiDomain(this, "Domain", { api: api.api, domain }).domainName;
    const { alarmEmail: email, ticketEmail, alarmTopic: operatorTopic } = settings;
    const alarms = new Alarms(this, "Alarms", { metrics, email, ticketEmail, operatorTopic });
    if (settings.terminationProtection) new AuditTrail(this, "AuditTrail", { table: tables.audit, key });
    if (settings.backup) {
      const topics = [alarms.ticketTopic, ...alarms.others];
      new Backup(this, "Backup", { tables: Object.values(tables), backup: settings.backup, topics });
    }
    new SavedQueries(this, "Queries", { logGroups, accessLogs: api.accessLogs });
    addDashboard(this, "Dashboard", metrics, alarms.alarms);

    const outputs: Record<string, string> = {
      ApiUrl: domain === undefined ? api.api.url : `https://${domain.host}/`,
      ...(domainName && { DomainTarget: domainName.domainNameAliasDomainName }),
      ...Object.fromEntries([
        ...resourcesOfKind("table").map(([name, { id }]) => [`${id}Table`, tables[name].tableName]),
        ...resourcesOfKind("bucket").map(([name, { id }]) => [`${id}Bucket`, buckets[name].bucketName]),
        ...resourcesOfKind("queue").flatMap(([name, { id }]) => {
          const { queue, deadLetters } = queues[name];
          const url = [`${id}Url`, queue.queueUrl];
          return deadLetters ? [url, [`${id.replace(/Queue$/, "")}DeadLettersUrl`, deadLetters.queueUrl]] : [url];
        }),
      ]),
      AlarmTopic: alarms.topic.topicArn,
      TicketTopic: alarms.ticketTopic.topicArn,
      DataVersion: String(DATA_VERSION),
    };
    for (const [id, value] of Object.entries(outputs)) new CfnOutput(this, id, { value });
  }
}
