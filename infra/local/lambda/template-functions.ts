import { join } from "node:path";
import * as z from "zod";
import type { FilterPattern } from "./filter-pattern.ts";
import type { FunctionDefinition } from "./instance.ts";
import type { ResolvedTemplate } from "../template.ts";

/** The most instances of a function whose event sources set no limit: as many as two processors can keep busy. */
const API_CONCURRENCY = 4;
/** In the cloud assembly, with which it is removed. */
const COMPILE_CACHE = "compile-cache";

const functionSchema = z.object({
  Handler: z.string(),
  MemorySize: z.coerce.number().default(128),
  Timeout: z.coerce.number().default(3),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()) }).optional(),
});
const mappingSchema = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.coerce.number().default(10),
  FunctionResponseTypes: z.array(z.string()).default([]),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })) }).optional(),
  MaximumBatchingWindowInSeconds: z.coerce.number().default(0),
  ScalingConfig: z.object({ MaximumConcurrency: z.coerce.number() }).optional(),
});
const ruleSchema = z.object({
  ScheduleExpression: z.string(),
  State: z.string().default("ENABLED"),
  Targets: z.array(z.object({ Arn: z.string() })),
});

/** An event source mapping of the template from a queue. */
export interface Mapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  readonly maximumConcurrency: number;
  readonly reportsBatchItemFailures: boolean;
}

function nameInArn(arn: string): string {
  return arn.split(":").at(-1) ?? "";
}

const STREAM_ARN = /:table\/([^/]+)\/stream\//;

function mappingResources(template: ResolvedTemplate) {
  return [...template.resourcesOf("AWS::Lambda::EventSourceMapping", mappingSchema).values()];
}

/** The template's event source mappings from queues. */
export function mappingsOf(template: ResolvedTemplate): readonly Mapping[] {
  return mappingResources(template)
    .filter(({ EventSourceArn }) => !STREAM_ARN.test(EventSourceArn))
    .map((mapping) => ({
      queueArn: mapping.EventSourceArn,
      functionName: nameInArn(mapping.FunctionName),
      batchSize: mapping.BatchSize,
      maximumConcurrency: mapping.ScalingConfig?.MaximumConcurrency ?? API_CONCURRENCY,
      reportsBatchItemFailures: mapping.FunctionResponseTypes.includes("ReportBatchItemFailures"),
    }));
}

/** The template's event source mappings from the streams of tables. */
export function streamMappingsOf(template: ResolvedTemplate) {
  return mappingResources(template).flatMap(({ EventSourceArn, FunctionName, BatchSize, ...mapping }) => {
    const [, tableName] = STREAM_ARN.exec(EventSourceArn) ?? [];
    if (tableName === undefined) return [];
    return {
      tableName,
      functionName: nameInArn(FunctionName),
      batchSize: BatchSize,
      windowMs: mapping.MaximumBatchingWindowInSeconds * 1000,
      filters: (mapping.FilterCriteria?.Filters ?? []).map(({ Pattern }) => JSON.parse(Pattern) as FilterPattern),
    };
  });
}

/** The template's enabled schedules, one entry for each function that a rule invokes. */
export function schedulesOf(template: ResolvedTemplate) {
  return [...template.resourcesOf("AWS::Events::Rule", ruleSchema)]
    .filter(([, { State }]) => State === "ENABLED")
    .flatMap(([logicalId, { ScheduleExpression, Targets }]) =>
      Targets.map(({ Arn }) => ({
        functionName: nameInArn(Arn),
        rule: { arn: template.arn(logicalId), region: template.region, expression: ScheduleExpression },
      })),
    );
}

/**
 * The template's functions.
 * @param assembly directory of the cloud assembly, which holds their code
 * @param platform variables that each function gets in addition to those in the template
 */
export function functionsOf(
  template: ResolvedTemplate,
  assembly: string,
  platform: Readonly<Record<string, string>>,
): readonly FunctionDefinition[] {
  const mappingsByFunction = Map.groupBy(mappingsOf(template), ({ functionName }) => functionName);
  return [...template.resourcesOf("AWS::Lambda::Function", functionSchema)].map(([logicalId, properties]) => {
    const name = template.physicalName(logicalId);
    const mappings = mappingsByFunction.get(name);
    return {
      name,
      arn: template.arn(logicalId),
      directory: join(assembly, template.assetPath(logicalId)),
      handler: properties.Handler,
      memoryMb: properties.MemorySize,
      timeoutSeconds: properties.Timeout,
      environment: { ...platform, ...properties.Environment?.Variables },
      compileCache: join(assembly, COMPILE_CACHE),
      concurrency: mappings?.reduce((sum, { maximumConcurrency }) => sum + maximumConcurrency, 0) ?? API_CONCURRENCY,
    };
  });
}
