import { readFileSync } from "node:fs";
import * as z from "zod";
import { LocalStackError } from "./local-stack-error.ts";

/** The account id that the embedded engines use. */
export const ACCOUNT = "000000000000";
/** Id of the one REST API. */
export const REST_API_ID = "local";

/** A resource of a CloudFormation template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** The sections of a CloudFormation template that the local stack uses. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: z.record(z.string(), z.unknown()).optional(),
      Metadata: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).optional(),
}) as z.ZodType<Template>;

/** Reads a template. @throws Error if the file is not a template */
export function readTemplate(file: string): Template {
  return templateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** A template and the values that its intrinsic functions depend on. */
export interface Deployment {
  readonly template: Template;
  readonly stackName: string;
  readonly region: string;
  /** Endpoint of SQS, with which queue URLs begin. */
  readonly sqsEndpoint: string;
}

/** A template whose intrinsic functions are replaced by the names, ARNs and URLs of the resources on this machine. */
export interface ResolvedTemplate {
  readonly region: string;
  readonly stackName: string;
  /** Resources of a type by logical id, each with its properties resolved and parsed. */
  resourcesOf<T>(type: string, properties: z.ZodType<T>): ReadonlyMap<string, T>;
  /** Name of a table, bucket, queue or function: the template's own, or stack and logical id, which do not change. */
  physicalName(logicalId: string): string;
  arn(logicalId: string): string;
  /** What `Ref` gives: a name, or a queue's URL. */
  reference(logicalId: string): string;
  /** Directory of a function's code in the cloud assembly. */
  assetPath(logicalId: string): string;
  output(name: string): string;
}

interface NamedType {
  /** The property that holds the name, if the template sets one. */
  readonly name: string;
  readonly arn: (name: string, region: string) => string;
}

const NAMED_TYPES: Readonly<Record<string, NamedType>> = {
  "AWS::DynamoDB::Table": {
    name: "TableName",
    arn: (name, region) => `arn:aws:dynamodb:${region}:${ACCOUNT}:table/${name}`,
  },
  "AWS::S3::Bucket": { name: "BucketName", arn: (name) => `arn:aws:s3:::${name}` },
  "AWS::SQS::Queue": { name: "QueueName", arn: (name, region) => `arn:aws:sqs:${region}:${ACCOUNT}:${name}` },
  "AWS::Lambda::Function": {
    name: "FunctionName",
    arn: (name, region) => `arn:aws:lambda:${region}:${ACCOUNT}:function:${name}`,
  },
};

/** Bucket names have at most 63 characters, in lower case. */
function toBucketName(name: string): string {
  return name.toLowerCase().slice(0, 63);
}

/** Resolves a template's intrinsic functions. @throws LocalStackError for one that is not supported */
export function resolveTemplate({ template, stackName, region, sqsEndpoint }: Deployment): ResolvedTemplate {
  const pseudo: Readonly<Record<string, string>> = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": region,
    "AWS::StackName": stackName,
    "AWS::URLSuffix": "amazonaws.com",
  };
  const resource = (logicalId: string): Resource => {
    const found = template.Resources[logicalId];
    if (found === undefined) throw new LocalStackError(`the template has no resource ${logicalId}`);
    return found;
  };
  const property = (logicalId: string, name: string): unknown => resolve(resource(logicalId).Properties?.[name]);

  const physicalName = (logicalId: string): string => {
    const { Type } = resource(logicalId);
    const named = NAMED_TYPES[Type];
    const given = named && property(logicalId, named.name);
    if (typeof given === "string") return given;
    const made = `${stackName}-${logicalId}`;
    return Type === "AWS::S3::Bucket" ? toBucketName(made) : made;
  };
  const arn = (logicalId: string): string => {
    const named = NAMED_TYPES[resource(logicalId).Type];
    return named === undefined
      ? `arn:aws:local:${region}:${ACCOUNT}:${logicalId}`
      : named.arn(physicalName(logicalId), region);
  };
  const reference = (logicalId: string): string => {
    if (pseudo[logicalId] !== undefined) return pseudo[logicalId];
    const { Type } = resource(logicalId);
    if (Type === "AWS::SQS::Queue") return `${sqsEndpoint}/${ACCOUNT}/${physicalName(logicalId)}`;
    if (Type === "AWS::ApiGateway::RestApi") return REST_API_ID;
    if (Type === "AWS::ApiGateway::Stage") return String(property(logicalId, "StageName"));
    return NAMED_TYPES[Type] === undefined ? logicalId : physicalName(logicalId);
  };
  const attribute = (logicalId: string, name: string): string => {
    if (name === "Arn") return arn(logicalId);
    if (name === "QueueName") return physicalName(logicalId);
    if (name === "QueueUrl") return reference(logicalId);
    return `${reference(logicalId)}.${name}`;
  };
  const substitute = (text: string, variables: Readonly<Record<string, unknown>>): string =>
    text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal === "!") return `\${${name}}`;
      if (name in variables) return String(resolve(variables[name]));
      const [logicalId = "", ...path] = name.split(".");
      return path.length === 0 ? reference(logicalId) : attribute(logicalId, path.join("."));
    });

  const intrinsics: Readonly<Record<string, (argument: never) => unknown>> = {
    Ref: reference,
    "Fn::GetAtt": ([logicalId, name]: [string, string]) => attribute(logicalId, name),
    "Fn::Join": ([separator, values]: [string, unknown[]]) =>
      values.map((value) => String(resolve(value))).join(separator),
    "Fn::Sub": (argument: string | [string, Record<string, unknown>]) =>
      typeof argument === "string" ? substitute(argument, {}) : substitute(...argument),
    "Fn::Select": ([index, list]: [number | string, unknown]) => (resolve(list) as unknown[])[Number(index)],
    "Fn::Split": ([separator, text]: [string, unknown]) => String(resolve(text)).split(separator),
  };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [key, argument] = entries[0] ?? [];
    if (entries.length === 1 && key !== undefined && (key === "Ref" || key.startsWith("Fn::"))) {
      const intrinsic = intrinsics[key];
      if (intrinsic === undefined) throw new LocalStackError(`${key} of the template does not run locally`);
      return intrinsic(argument as never);
    }
    return Object.fromEntries(entries.map(([name, inner]) => [name, resolve(inner)]));
  };

  return {
    region,
    stackName,
    physicalName,
    arn,
    reference,
    assetPath: (logicalId) => {
      const path = resource(logicalId).Metadata?.["aws:asset:path"];
      if (typeof path !== "string") throw new LocalStackError(`the template does not say where ${logicalId}'s code is`);
      return path;
    },
    resourcesOf: (type, properties) =>
      new Map(
        Object.entries(template.Resources)
          .filter(([, { Type }]) => Type === type)
          .map(([logicalId, { Properties = {} }]) => {
            const parsed = properties.safeParse(resolve(Properties));
            if (!parsed.success) throw new LocalStackError(`${logicalId}: ${z.prettifyError(parsed.error)}`);
            return [logicalId, parsed.data];
          }),
      ),
    output: (name) => {
      const found = template.Outputs?.[name];
      if (found === undefined) throw new LocalStackError(`the template has no output ${name}`);
      return String(resolve(found.Value));
    },
  };
}
