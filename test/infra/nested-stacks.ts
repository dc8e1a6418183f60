import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CloudFormationStackArtifact } from "aws-cdk-lib/cx-api";

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

interface StackTemplate {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

type Resolve = (reference: string, attribute: string | undefined) => unknown;

/** Replaces each `Ref` and `Fn::GetAtt` for which `resolve` has a value. */
function replaceReferences(value: unknown, resolve: Resolve): unknown {
  if (Array.isArray(value)) return value.map((each) => replaceReferences(each, resolve));
  if (typeof value !== "object" || value === null) return value;
  const { Ref: name, "Fn::GetAtt": attribute } = value as { Ref?: string; "Fn::GetAtt"?: readonly [string, string] };
  const [found = name, of] = attribute ?? [];
  const replacement = found === undefined ? undefined : resolve(found, of);
  if (replacement !== undefined) return replacement;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceReferences(each, resolve)]));
}

/** The template of a stack in which the resources of nested stacks are its own, without parameters and outputs between. */
export function wholeTemplateOf(artifact: CloudFormationStackArtifact): StackTemplate {
  const directory = dirname(artifact.templateFullPath);
  const template = artifact.template as StackTemplate;
  const outputs = new Map<string, unknown>();
  const resources = new Map(Object.entries(template.Resources));
  for (const [id, { Type: type, Properties: properties, Metadata: metadata }] of Object.entries(template.Resources)) {
    if (type !== "AWS::CloudFormation::Stack") continue;
    const parameters = properties?.["Parameters"] as Readonly<Record<string, unknown>> | undefined;
    const file = join(directory, String(metadata?.["aws:asset:path"]));
    const nested = replaceReferences(JSON.parse(readFileSync(file, "utf8")), (name) => parameters?.[name]);
    const { Resources: own, Outputs: values = {} } = nested as StackTemplate;
    resources.delete(id);
    for (const [ownId, resource] of Object.entries(own)) {
      if (resources.has(ownId)) throw new Error(`both ${artifact.stackName} and its stack ${id} have a ${ownId}`);
      resources.set(ownId, resource);
    }
    for (const [name, { Value: value }] of Object.entries(values)) outputs.set(`${id}.Outputs.${name}`, value);
  }
  const whole = { ...template, Resources: Object.fromEntries(resources) };
  return replaceReferences(whole, (name, attribute) => outputs.get(`${name}.${attribute ?? ""}`)) as StackTemplate;
}
