import { readFileSync } from "node:fs";
import * as z from "zod";
import { LocalStackError } from "./local-stack-error.ts";

/** The account id that the embedded engines use. */
export const ACCOUNT = "000000000000";
/** Stands for the label of a table's stream, which the engine gives it. */
export const LATEST_STREAM = "latest";
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

/** Those of `Fn::Sub`. */
type Variables = Readonly<Record<string, unknown>>;

/** Bucket names have at most 63 characters, in lower case. */
function toBucketName(name: string): string {
  return name.toLowerCase().slice(0, 63);
}

/** A template whose intrinsic functions are replaced by the names, ARNs and URLs of the resources on this machine. */
export class ResolvedTemplate {
  readonly region: string;
  readonly stackName: string;
  readonly #template: Template;
  readonly #sqsEndpoint: string;
  readonly #pseudoParameters: Readonly<Record<string, string>>;

  constructor({ template, stackName, region, sqsEndpoint }: Deployment) {
    this.region = region;
    this.stackName = stackName;
    this.#template = template;
    this.#sqsEndpoint = sqsEndpoint;
    this.#pseudoParameters = {
      "AWS::AccountId": ACCOUNT,
      "AWS::Partition": "aws",
      "AWS::Region": region,
      "AWS::StackName": stackName,
      "AWS::URLSuffix": "amazonaws.com",
    };
  }

  /**
   * Resources of a type by logical id, each with its properties resolved and parsed.
   * @throws LocalStackError for an intrinsic function that is not supported
   */
  resourcesOf<T>(type: string, properties: z.ZodType<T>): ReadonlyMap<string, T> {
    const resources = Object.entries(this.#template.Resources).filter(([, { Type }]) => Type === type);
    return new Map(
      resources.map(([logicalId, { Properties = {} }]) => {
        const parsed = properties.safeParse(this.#resolve(Properties));
        if (!parsed.success) throw new LocalStackError(`${logicalId}: ${z.prettifyError(parsed.error)}`);
        return [logicalId, parsed.data];
      }),
    );
  }

  /** Name of a table, bucket, queue or function: the template's own, or stack and logical id, which do not change. */
  physicalName(logicalId: string): string {
    const { Type } = this.#resource(logicalId);
    const named = NAMED_TYPES[Type];
    const given = named && this.#property(logicalId, named.name);
    if (typeof given === "string") return given;
    const made = `${this.stackName}-${logicalId}`;
    if (this.#resource(logicalId).Properties?.["FifoQueue"] === true) return `${made}.fifo`;
    return Type === "AWS::S3::Bucket" ? toBucketName(made) : made;
  }

  arn(logicalId: string): string {
    const named = NAMED_TYPES[this.#resource(logicalId).Type];
    return named === undefined
      ? `arn:aws:local:${this.region}:${ACCOUNT}:${logicalId}`
      : named.arn(this.physicalName(logicalId), this.region);
  }

  /** What `Ref` gives: a name, or a queue's URL. */
  reference(logicalId: string): string {
    const pseudoParameter = this.#pseudoParameters[logicalId];
    if (pseudoParameter !== undefined) return pseudoParameter;
    const { Type } = this.#resource(logicalId);
    if (Type === "AWS::SQS::Queue") return `${this.#sqsEndpoint}/${ACCOUNT}/${this.physicalName(logicalId)}`;
    if (Type === "AWS::ApiGateway::RestApi") return REST_API_ID;
    if (Type === "AWS::ApiGateway::Stage") return String(this.#property(logicalId, "StageName"));
    return NAMED_TYPES[Type] === undefined ? logicalId : this.physicalName(logicalId);
  }

  /** Directory of a function's code in the cloud assembly. */
  assetPath(logicalId: string): string {
    const path = this.#resource(logicalId).Metadata?.["aws:asset:path"];
    if (typeof path !== "string") throw new LocalStackError(`the template has no code path for ${logicalId}`);
    return path;
  }

  output(name: string): string {
    const found = this.#template.Outputs?.[name];
    if (found === undefined) throw new LocalStackError(`the template has no output ${name}`);
    return String(this.#resolve(found.Value));
  }

  #resource(logicalId: string): Resource {
    const found = this.#template.Resources[logicalId];
    if (found === undefined) throw new LocalStackError(`the template has no resource ${logicalId}`);
    return found;
  }

  #property(logicalId: string, name: string): unknown {
    return this.#resolve(this.#resource(logicalId).Properties?.[name]);
  }

  /** What `Fn::GetAtt` gives. */
  #attribute(logicalId: string, name: string): string {
    if (name === "Arn") return this.arn(logicalId);
    if (name === "StreamArn") return `${this.arn(logicalId)}/stream/${LATEST_STREAM}`;
    if (name === "QueueName") return this.physicalName(logicalId);
    if (name === "QueueUrl") return this.reference(logicalId);
    return `${this.reference(logicalId)}.${name}`;
  }

  /** Replaces all intrinsic functions in a value. */
  #resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#resolve(each));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [key, argument] = entries[0] ?? [];
    if (entries.length === 1 && key !== undefined && (key === "Ref" || key.startsWith("Fn::"))) {
      return this.#call(key, argument as never);
    }
    return Object.fromEntries(entries.map(([name, inner]) => [name, this.#resolve(inner)]));
  }

  #call(intrinsic: string, argument: never): unknown {
    switch (intrinsic) {
      case "Ref":
        return this.reference(argument);
      case "Fn::GetAtt": {
        const [logicalId, name] = argument as [string, string];
        return this.#attribute(logicalId, name);
      }
      case "Fn::Join": {
        const [separator, values] = argument as [string, unknown[]];
        return values.map((value) => String(this.#resolve(value))).join(separator);
      }
      case "Fn::Sub": {
        const [text, variables] = typeof argument === "string" ? [argument, {}] : (argument as [string, Variables]);
        return this.#substitute(text, variables);
      }
      case "Fn::Select": {
        const [index, list] = argument as [number | string, unknown];
        return (this.#resolve(list) as unknown[])[Number(index)];
      }
      case "Fn::Split": {
        const [separator, text] = argument as [string, unknown];
        return String(this.#resolve(text)).split(separator);
      }
      default:
        throw new LocalStackError(`${intrinsic} of the template does not run locally`);
    }
  }

  #substitute(text: string, variables: Variables): string {
    return text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal === "!") return `\${${name}}`;
      if (name in variables) return String(this.#resolve(variables[name]));
      const [logicalId = "", ...path] = name.split(".");
      return path.length === 0 ? this.reference(logicalId) : this.#attribute(logicalId, path.join("."));
    });
  }
}
