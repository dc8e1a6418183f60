import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { IConstruct } from "constructs";
import { SERVER_ERRORS } from "../lib/http/chain.ts";
import { MEMORY_MB } from "./limits.ts";
import { PRICES } from "./prices.ts";

/** What in a template costs money while the service isn't called. */
export interface CostTemplate {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
  >;
}

/** The resources of a stack and of those that are nested in it. */
export function resourcesOf(stack: IConstruct): CostTemplate {
  const stacks = stack.node.findAll().filter((each) => Stack.isStack(each));
  return { Resources: Object.assign({}, ...stacks.map((each) => Template.fromStack(each).toJSON()["Resources"])) };
}

/** A kind of cost at rest. */
export interface Cost {
  readonly name: string;
  readonly count: number;
  /** A month, without free tiers. */
  readonly dollars: number;
}

const MINUTES_A_MONTH = 730 * 60;
/** Lambda asks an empty queue by five long polls of 20 seconds at the same time. */
const POLLS_A_MINUTE = 5 * 3;
/** What a run of a sweep with nothing to do is assumed to take. */
const SWEEP_SECONDS = 0.1;
/** Metrics of functions, which are written only when there is something to count. */
const OWN_NAMESPACE = /^WorkItems/;

interface MetricStat {
  readonly Metric: { readonly Namespace: string; readonly MetricName: string };
}
interface AlarmProperties {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Metrics?: readonly { readonly MetricStat?: MetricStat }[];
}

function metricsOf({ Namespace: namespace = "", MetricName: name = "", Metrics: metrics }: AlarmProperties) {
  if (metrics === undefined) return [{ namespace, name }];
  return metrics.flatMap(({ MetricStat: stat }) =>
    stat === undefined ? [] : [{ namespace: stat.Metric.Namespace, name: stat.Metric.MetricName }],
  );
}

const MINUTES = { minute: 1, hour: 60, day: 24 * 60 } as const;

/** Runs a month of `rate(5 minutes)`. */
function runsOf(schedule: unknown): number {
  const [, every, unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(schedule)) ?? [];
  if (every === undefined) throw new Error(`no rate: ${String(schedule)}`);
  return MINUTES_A_MONTH / (Number(every) * MINUTES[unit as keyof typeof MINUTES]);
}

/**
 * What a stack costs while it isn't called, by kind. Stored data, its backups and logs are extra, and so is each call.
 */
export function costsOf({ Resources: resources }: CostTemplate): Cost[] {
  const of = (type: string) =>
    Object.values(resources).flatMap(({ Type, Properties = {} }) => (Type === type ? [Properties] : []));
  const alarms = of("AWS::CloudWatch::Alarm").map((alarm) => metricsOf(alarm as AlarmProperties));
  const own = new Set(
    alarms
      .flat()
      .filter(({ namespace, name }) => OWN_NAMESPACE.test(namespace) && name !== SERVER_ERRORS)
      .map(({ name }) => name),
  );
  const queues = of("AWS::Lambda::EventSourceMapping").filter(({ ScalingConfig: scaling }) => scaling !== undefined);
  const schedules = of("AWS::Events::Rule").flatMap(({ ScheduleExpression: schedule = [] }) => schedule);
  const runs = schedules.reduce<number>((sum, schedule) => sum + runsOf(schedule), 0);
  const rules = of("AWS::WAFv2::WebACL").reduce((sum, { Rules: list }) => sum + (list as readonly unknown[]).length, 0);
  const perRun = PRICES.invocation + SWEEP_SECONDS * (MEMORY_MB.computes / 1000) * PRICES.gigabyteSecond;
  const counted = (name: string, count: number, dollars: number): Cost[] =>
    count === 0 ? [] : [{ name, count, dollars: count * dollars }];
  return [
    ...counted("metrics in alarms", alarms.flat().length, PRICES.alarmMetric),
    ...counted("metrics of our own", own.size, PRICES.customMetric),
    ...counted("dashboard", of("AWS::CloudWatch::Dashboard").length, PRICES.dashboard),
    ...counted("keys", of("AWS::KMS::Key").length, PRICES.key),
    ...counted("queues that functions poll", queues.length, POLLS_A_MINUTE * MINUTES_A_MONTH * PRICES.queueRequest),
    ...counted("runs of sweeps", Math.round(runs), perRun),
    ...counted("firewall", of("AWS::WAFv2::WebACL").length, PRICES.webAcl),
    ...counted("rules of the firewall", rules, PRICES.webAclRule),
  ];
}
