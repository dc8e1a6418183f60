import * as z from "zod";
import { plain, resourcesOf, type Template } from "../synthesized.ts";
import { evaluateExpression, type Value } from "./math-expression.ts";

const FILTER = /^\{ \$\.(\w+) = "(\w+)" \}$/;
const metricSchema = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
});
const alarmSchema = z.object({
  AlarmName: z.string(),
  ComparisonOperator: z.enum(["GreaterThanOrEqualToThreshold", "LessThanThreshold"]),
  Threshold: z.number(),
  EvaluationPeriods: z.int(),
  DatapointsToAlarm: z.int(),
  TreatMissingData: z.enum(["missing", "notBreaching"]),
  AlarmActions: z.array(z.string()),
  InsufficientDataActions: z.array(z.string()).default([]),
  Metrics: z.array(
    z.object({
      Id: z.string(),
      Expression: z.string().optional(),
      ReturnData: z.boolean().default(true),
      MetricStat: z.object({ Metric: metricSchema, Stat: z.string(), Period: z.int() }).optional(),
    }),
  ),
});
const filterSchema = z.object({
  /** A field of a JSON line that equals a text. */
  FilterPattern: z.string().regex(FILTER),
  MetricTransformations: z.tuple([z.object({ MetricNamespace: z.string(), MetricName: z.string() })]),
});
type Alarm = z.output<typeof alarmSchema>;

/** The states of an alarm. A new one has insufficient data. */
type State = "OK" | "ALARM" | "INSUFFICIENT_DATA";

const STATISTICS: Readonly<Record<string, (sorted: readonly number[]) => number>> = {
  Minimum: (values) => values[0] ?? 0,
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Maximum: (values) => values.at(-1) ?? 0,
  p99: (values) => values[Math.ceil(0.99 * values.length) - 1] ?? 0,
};

/** A metric by its namespace, name and dimensions, whatever their order. */
const nameOf = (namespace: string, name: string, dimensions: Readonly<Record<string, string>>): string =>
  [namespace, name, ...Object.entries(dimensions).map((pair) => pair.join("="))].toSorted().join(" ");

/** Seconds in which values are collected. Periods of alarms are one or several of them. */
const COLLECTED_SECONDS = 5 * 60;
/** The values of all metrics in five minutes. */
type Collected = Map<string, number[]>;

const statisticIn = (period: readonly Collected[], metric: z.output<typeof metricSchema>, statistic: string): Value => {
  const dimensions = Object.fromEntries(metric.Dimensions.map(({ Name, Value: value }) => [Name, value]));
  const name = nameOf(metric.Namespace, metric.MetricName, dimensions);
  const values = period.flatMap((collected) => collected.get(name) ?? []);
  const calculate = STATISTICS[statistic];
  if (calculate === undefined) throw new Error(`${statistic} is not a statistic that the alarms use`);
  return values.length === 0 ? undefined : calculate(values.toSorted((a, b) => a - b));
};

/** What an alarm compares with its threshold. */
const valueIn = (period: readonly Collected[], { AlarmName: name, Metrics: queries }: Alarm): Value => {
  const valueOf = (id: string): Value => {
    const query = queries.find((each) => each.Id === id);
    if (query?.MetricStat) return statisticIn(period, query.MetricStat.Metric, query.MetricStat.Stat);
    if (query?.Expression === undefined) throw new Error(`${name} has no ${id}`);
    return evaluateExpression(query.Expression, valueOf);
  };
  return valueOf(queries.find(({ ReturnData }) => ReturnData)?.Id ?? "");
};

/** The last periods of an alarm, the newest of which ends now. All metrics of an alarm have the same period. */
const periodsIn = (collected: readonly Collected[], { EvaluationPeriods: count, Metrics: queries }: Alarm) => {
  const [seconds = 0, ...others] = new Set(queries.flatMap(({ MetricStat: stat }) => stat?.Period ?? []));
  if (seconds % COLLECTED_SECONDS !== 0 || others.length > 0) throw new Error("metrics of other periods");
  const length = seconds / COLLECTED_SECONDS;
  return Array.from({ length: count }, (_, index) => {
    const end = collected.length - index * length;
    return collected.slice(Math.max(end - length, 0), Math.max(end, 0));
  });
};

/** (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html) */
const stateAfter = (collected: readonly Collected[], alarm: Alarm): State => {
  const values = periodsIn(collected, alarm).map((period) => valueIn(period, alarm));
  const present = values.filter((value) => value !== undefined);
  if (present.length === 0 && alarm.TreatMissingData === "missing") return "INSUFFICIENT_DATA";
  const breaching = present.filter((value) =>
    alarm.ComparisonOperator === "LessThanThreshold" ? value < alarm.Threshold : value >= alarm.Threshold,
  );
  return breaching.length >= alarm.DatapointsToAlarm ? "ALARM" : "OK";
};

/**
 * Metrics, collected for five minutes each, and the alarms of a template over them. Dimensions name the template's
 * resources as `plain` does.
 */
export const createCloudWatch = (template: Template) => {
  const all = <S extends z.ZodType>(type: string, schema: S): readonly z.output<S>[] =>
    resourcesOf(template, type).map(([, properties]) => schema.parse(plain(properties)));
  const alarms = all("AWS::CloudWatch::Alarm", alarmSchema);
  const filters = all("AWS::Logs::MetricFilter", filterSchema);
  const states = new Map<string, State>();
  const collected: Collected[] = [];
  let current: Collected = new Map();

  const record = (namespace: string, name: string, dimensions: Record<string, string>, value: number): void => {
    const metric = nameOf(namespace, name, dimensions);
    current.set(metric, [...(current.get(metric) ?? []), value]);
  };
  return {
    /** Names of the alarms. */
    names: alarms.map(({ AlarmName }) => AlarmName),
    record,
    /** Records the metrics that the template makes of a line of the access log. */
    recordAccess: (line: Readonly<Record<string, string>>): void => {
      for (const { FilterPattern, MetricTransformations } of filters) {
        const [, field = "", value] = FILTER.exec(FilterPattern) ?? [];
        const [{ MetricNamespace, MetricName }] = MetricTransformations;
        if (line[field] === value) record(MetricNamespace, MetricName, {}, 1);
      }
    },
    /** Records the metrics of a log line in the embedded metric format. Other lines have none. */
    recordLogLine: (line: string): void => {
      const { _aws, ...properties } = JSON.parse(line) as Record<string, unknown> & {
        _aws?: {
          CloudWatchMetrics: readonly { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[];
        };
      };
      for (const { Namespace, Dimensions, Metrics } of _aws?.CloudWatchMetrics ?? []) {
        for (const names of Dimensions) {
          const dimensions = Object.fromEntries(names.map((name) => [name, String(properties[name])]));
          for (const { Name } of Metrics) {
            for (const value of [properties[Name]].flat()) record(Namespace, Name, dimensions, Number(value));
          }
        }
      }
    },
    /** The state of an alarm by its full name. */
    stateOf: (name: string): State | undefined => states.get(name),
    /** Ends five minutes. @returns full names of the alarms that send a message now */
    endPeriod: (): string[] => {
      collected.push(current);
      current = new Map();
      return alarms
        .filter((alarm) => {
          const before = states.get(alarm.AlarmName) ?? "INSUFFICIENT_DATA";
          const state = stateAfter(collected, alarm);
          states.set(alarm.AlarmName, state);
          if (state === before || state === "OK") return false;
          return (state === "ALARM" ? alarm.AlarmActions : alarm.InsufficientDataActions).length > 0;
        })
        .map(({ AlarmName }) => AlarmName);
    },
  };
};
