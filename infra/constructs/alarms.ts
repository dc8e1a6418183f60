import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { READS } from "../../lib/store/data-version.ts";
import type { ServiceMetrics } from "./metrics.ts";

interface AlarmDefinition {
  readonly name: string;
  readonly metric: IMetric;
  /** What callers or operators lose while the alarm is on, for the operator on call. */
  readonly impact: string;
  readonly threshold: number;
  /** How many of the last periods must breach the threshold. @default [1, 1] */
  readonly periods?: readonly [breaching: number, evaluated: number];
  /** Whether it can wait until the morning: it then goes to the topic of tickets. @default false */
  readonly isTicket?: boolean;
  /** Whether values below the threshold breach it. @default false: values at or above it do */
  readonly isLeast?: boolean;
  /**
   * Whether data always arrives: the alarm then also fires if data stops. It stays silent until the first data arrives, so
   * that a first deployment is quiet. @default isLeast
   */
  readonly isSteady?: boolean;
}

const QUARTER_HOUR_SECONDS = 15 * 60;
const HALF_AN_HOUR_SECONDS = 30 * 60;
const HOUR_SECONDS = 60 * 60;
const THREE_HOURS_SECONDS = 3 * HOUR_SECONDS;
const SIX_HOURS_SECONDS = 6 * HOUR_SECONDS;

function alarmDefinitions(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: "DeadLetters",
      metric: metrics.deadLettersHeld,
      impact:
        "A message about an upload has failed five times. The sweep sends its job again. If workers keep failing, the job fails.",
      threshold: 1,
    },
    {
      name: "ServerErrors",
      metric: metrics.serverErrorPercent,
      impact: "One request in a hundred or more fails with a 5xx: callers get errors and retry.",
      threshold: 1,
      periods: [2, 3],
    },
    {
      name: "Latency",
      metric: metrics.latencyP99,
      impact: "One request in a hundred takes longer than five seconds: callers with short timeouts give up and retry.",
      threshold: 5000,
      periods: [3, 3],
    },
    {
      name: "ThrottledWrites",
      metric: metrics.throttledWrites,
      impact: "DynamoDB throttles writes: batches return items with errors, single writes 503, upload jobs slow down.",
      threshold: 100,
      periods: [2, 3],
    },
    {
      name: "ThrottledReads",
      isTicket: true,
      metric: metrics.throttledReads,
      impact: "DynamoDB throttles reads: lists, single reads and key checks are slow or return 503.",
      threshold: 100,
      periods: [2, 3],
    },
    {
      name: "Unauthorized",
      isTicket: true,
      metric: metrics.unauthorized,
      impact: "Requests with invalid keys: a caller's key was revoked or has expired, or someone is trying keys.",
      threshold: 300,
      periods: [2, 3],
    },
    {
      name: "RateLimited",
      isTicket: true,
      metric: metrics.rateLimited,
      impact: "Callers have been over a rate limit for 15 minutes: their data arrives late or not at all.",
      threshold: 1000,
      periods: [3, 3],
    },
    ...(metrics.certificateDays === undefined
      ? []
      : [
          {
            name: "CertificateExpires",
            isTicket: true,
            metric: metrics.certificateDays,
            impact: "The domain's certificate expires within 30 days; after that no caller can connect to the domain.",
            threshold: 30,
            isLeast: true,
          },
        ]),
    {
      name: "JobAge",
      isTicket: true,
      metric: metrics.jobAgeSeconds,
      impact:
        "An upload job has been open for six hours, longer than the largest file needs to arrive: its rows are applied late or not at all.",
      threshold: SIX_HOURS_SECONDS,
    },
    {
      name: "FilesWaiting",
      isTicket: true,
      metric: metrics.fileWaitSeconds,
      impact:
        "An uploaded file has waited for half an hour to be read: its job stays pending, and none of its rows is applied.",
      threshold: HALF_AN_HOUR_SECONDS,
    },
    {
      name: "SplitQueueAge",
      metric: metrics.messageAgeSeconds.splitQueue,
      impact:
        "A message has waited for three hours, although workers try again after 90 minutes: uploaded files are read late.",
      threshold: THREE_HOURS_SECONDS,
    },
    {
      name: "ChunksQueueAge",
      metric: metrics.messageAgeSeconds.chunksQueue,
      impact: "A message has waited for an hour, although workers try again after 12 minutes: upload jobs finish late.",
      threshold: HOUR_SECONDS,
    },
    {
      name: "ChangesQueueAge",
      isTicket: true,
      metric: metrics.messageAgeSeconds.changesQueue,
      impact: "A change has waited for an hour in the queue of the change feed: readers see it late.",
      threshold: HOUR_SECONDS,
    },
    {
      name: "WebhooksQueueAge",
      isTicket: true,
      metric: metrics.messageAgeSeconds.webhooksQueue,
      impact: "News for webhooks has waited for an hour: receivers learn late that there is something to fetch.",
      threshold: HOUR_SECONDS,
    },
    {
      name: "WebhooksFailing",
      isTicket: true,
      metric: metrics.webhooksFailing,
      impact:
        "No message about webhooks has been handled for 15 minutes: receivers don't learn what there is to fetch.",
      threshold: 1,
      periods: [3, 3],
    },
    {
      name: "WebhooksUnreachable",
      isTicket: true,
      metric: metrics.organizationsUnreachable,
      impact:
        "For half an hour no call of a webhook has succeeded, and the receivers of three or more organizations can't be reached: the fault is ours or the network's, and no receiver learns what there is to fetch.",
      threshold: 3,
      periods: [2, 2],
    },
    {
      name: "WebhooksSweepStopped",
      isTicket: true,
      metric: metrics.webhookSweeps,
      impact:
        "Endpoints that have failed for a long time aren't called again, and new webhooks don't get their first messages.",
      threshold: 1,
      periods: [3, 3],
      isLeast: true,
    },
    {
      name: "LimiterFailingOpen",
      metric: metrics.limiterFailedOpen,
      impact:
        "Requests pass without a rate limit because its store doesn't respond in time: one organization can crowd out others.",
      threshold: 10,
      periods: [2, 3],
    },
    {
      name: "StoreRefusals",
      metric: metrics.storeRefusals,
      impact:
        "The WorkItems table can't be written (permissions, table or credentials): calls get 503, upload jobs stop.",
      threshold: 1,
    },
    {
      name: "DataRefused",
      metric: metrics.dataRefused,
      impact: `Workers refuse what is stored, because this code reads version ${READS.join(", ")} and there is another one, which their logs name: uploads, the change feed and webhooks stop, and messages that are received five times become dead letters. Run npm run pause, then deploy a commit that reads that version.`,
      threshold: 1,
      // A first deployment writes the version at its end.
      periods: [3, 3],
    },
    {
      name: "DirectCallsFailing",
      metric: metrics.directFailures,
      impact:
        "Calls by other systems fail (record-qa-score, record-conversation-upload): what they report isn't recorded unless they repeat the call.",
      threshold: 1,
    },
    {
      name: "SweepStopped",
      metric: metrics.sweeps,
      impact: "Upload jobs aren't watched: one that loses its message or its worker stops.",
      threshold: 1,
      periods: [3, 3],
      isLeast: true,
    },
    {
      name: "ChangesLate",
      isTicket: true,
      metric: metrics.changeAgeSeconds,
      impact: "Changes have waited for half an hour to get into the change feed: its readers see them late.",
      threshold: QUARTER_HOUR_SECONDS,
      periods: [2, 2],
      isSteady: true,
    },
    {
      name: "ChangesWaiting",
      metric: metrics.changeAgeSeconds,
      impact:
        "Changes have waited for two hours to get into the change feed, or the sweep that measures it has stopped; the saved query 'changes that wait' names the organizations. Changes that wait in the stream for 24 hours are lost: readers then have to load everything again.",
      threshold: 2 * HOUR_SECONDS,
      // Missing data also counts after two hours.
      periods: [2, 8],
      isSteady: true,
    },
    {
      name: "ChangesFailing",
      metric: metrics.changesFailingSeconds,
      impact:
        "The change feed of an organization has stopped for 15 minutes: its readers get nothing new. The saved query 'changes that wait' names it and the error. Changes are given up after an hour if a record is damaged, otherwise after a day: its readers then have to load everything again.",
      threshold: QUARTER_HOUR_SECONDS,
    },
    {
      name: "ChangesSweepStopped",
      metric: metrics.changeSweeps,
      impact: "Lost changes go unnoticed: readers of the change feed keep a copy that is incomplete.",
      threshold: 1,
      periods: [2, 2],
      isLeast: true,
    },
    {
      name: "RetentionBehind",
      isTicket: true,
      metric: metrics.retentionUnfinished,
      impact:
        "Work items are kept longer than their organization has set: for a day, no run has erased all that have expired, or none has started.",
      threshold: 1,
      periods: [24, 24],
      isSteady: true,
    },
  ];
}

export interface AlarmsProps {
  readonly metrics: ServiceMetrics;
  /** Address that alarms are sent to. @default none: operators subscribe to the topic themselves */
  readonly email: string | undefined;
  /** Address for alarms that can wait until the morning. @default the same */
  readonly ticketEmail: string | undefined;
  /** ARN of another topic that gets all alarms. @default none */
  readonly operatorTopic: string | undefined;
}

/** Only alarms of this account. */
function ofThisAccount(scope: Construct) {
  return { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } };
}

/** All alarms, and the topics that they are published to. */
export class Alarms extends Construct {
  /** Alarms for which someone is woken. */
  readonly topic: Topic;
  /** Alarms that can wait until the morning. */
  readonly ticketTopic: Topic;
  readonly alarms: readonly Alarm[];
  /** The operator's own topics, which get both. */
  readonly others: readonly ITopic[];

  constructor(scope: Construct, id: string, { metrics, email, ticketEmail = email, operatorTopic }: AlarmsProps) {
    super(scope, id);
    const masterKey = this.topicKey();
    this.topic = this.topicOf("Topic", "Alarms", masterKey, email);
    this.ticketTopic = this.topicOf("TicketTopic", "Tickets", masterKey, ticketEmail);
    this.others = operatorTopic === undefined ? [] : [Topic.fromTopicArn(this, "OperatorTopic", operatorTopic)];
    this.alarms = alarmDefinitions(metrics).map((definition) => this.alarm(definition));
  }

  /** Sends an alarm's messages to the topics of its kind. */
  private notify(alarm: Alarm, isTicket: boolean): readonly SnsAction[] {
    const topics = [isTicket ? this.ticketTopic : this.topic, ...this.others];
    const actions = topics.map((topic) => new SnsAction(topic));
    alarm.addAlarmAction(...actions);
    alarm.addOkAction(...actions);
    return actions;
  }

  private topicOf(id: string, name: string, masterKey: Key, email: string | undefined): Topic {
    const topic = new Topic(this, id, {
      displayName: `${name} of ${Stack.of(this).stackName}`,
      enforceSSL: true,
      masterKey,
    });
    // `enforceSSL` replaces the topic's default policy, which lets the account's alarms publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: "PublishAlarms",
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: ofThisAccount(this),
      }),
    );
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }

  /**
   * CloudWatch can't publish to topics that AWS's key for SNS encrypts. Not the key of the data: if that is disabled, the alarms
   * must still arrive.
   */
  private topicKey(): Key {
    const key = new Key(this, "TopicKey", {
      description: `Messages of the alarms of ${Stack.of(this).stackName}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        sid: "EncryptAlarms",
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
        conditions: ofThisAccount(this),
      }),
    );
    return key;
  }

  private alarm({
    name,
    metric,
    impact,
    threshold,
    periods: [breaching, evaluated] = [1, 1],
    isTicket = false,
    isLeast = false,
    isSteady = isLeast,
  }: AlarmDefinition) {
    const alarm = new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `Impact: ${impact} Runbook: docs/runbook.md#${name.toLowerCase()}`,
      metric,
      threshold,
      comparisonOperator: isLeast
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: evaluated,
      datapointsToAlarm: breaching,
      treatMissingData: isSteady ? TreatMissingData.MISSING : TreatMissingData.NOT_BREACHING,
    });
    const actions = this.notify(alarm, isTicket);
    if (isSteady) alarm.addInsufficientDataAction(...actions);
    return alarm;
  }
}
