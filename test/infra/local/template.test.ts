import { expect, test } from "vitest";
import * as z from "zod";
import { ResolvedTemplate, type Resource } from "../../../infra/local/template.ts";

const resolve = (Resources: Record<string, Resource>, Outputs?: Record<string, { Value: unknown }>) =>
  new ResolvedTemplate({
    template: { Resources, ...(Outputs && { Outputs }) },
    stackName: "Stack-us",
    region: "us-east-1",
    sqsEndpoint: "http://127.0.0.1:4566",
  });

const resources: Record<string, Resource> = {
  Items1A2B: { Type: "AWS::DynamoDB::Table", Properties: {} },
  Named: { Type: "AWS::DynamoDB::Table", Properties: { TableName: "given" } },
  Uploads3C4D: { Type: "AWS::S3::Bucket" },
  Parts5E6F: { Type: "AWS::SQS::Queue" },
  Worker: { Type: "AWS::Lambda::Function", Properties: { FunctionName: "Stack-us-worker" } },
  Api: { Type: "AWS::ApiGateway::RestApi" },
  Stage: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "dev" } },
};
const valueOf = (Value: unknown): string => resolve(resources, { Out: { Value } }).output("Out");

test.each([
  ["a table's name, made of stack and logical id", { Ref: "Items1A2B" }, "Stack-us-Items1A2B"],
  ["the name that the template gives", { Ref: "Named" }, "given"],
  ["a bucket's name, in small letters", { Ref: "Uploads3C4D" }, "stack-us-uploads3c4d"],
  ["a queue's URL", { Ref: "Parts5E6F" }, "http://127.0.0.1:4566/000000000000/Stack-us-Parts5E6F"],
  ["a function's name", { Ref: "Worker" }, "Stack-us-worker"],
  ["a stage's name", { Ref: "Stage" }, "dev"],
  [
    "a table's ARN",
    { "Fn::GetAtt": ["Items1A2B", "Arn"] },
    "arn:aws:dynamodb:us-east-1:000000000000:table/Stack-us-Items1A2B",
  ],
  ["a queue's ARN", { "Fn::GetAtt": ["Parts5E6F", "Arn"] }, "arn:aws:sqs:us-east-1:000000000000:Stack-us-Parts5E6F"],
  ["a queue's name", { "Fn::GetAtt": ["Parts5E6F", "QueueName"] }, "Stack-us-Parts5E6F"],
  ["a bucket's ARN", { "Fn::GetAtt": ["Uploads3C4D", "Arn"] }, "arn:aws:s3:::stack-us-uploads3c4d"],
  ["joined values", { "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }, { Ref: "Named" }]] }, "a-us-east-1-given"],
  [
    "substitutions",
    { "Fn::Sub": "${AWS::Partition}/${Named}/${Uploads3C4D.Arn}/${!Named}" },
    "aws/given/arn:aws:s3:::stack-us-uploads3c4d/${Named}",
  ],
  ["substitutions of its own", { "Fn::Sub": ["${x}-${Named}", { x: { Ref: "Stage" } }] }, "dev-given"],
  ["an element of a split text", { "Fn::Select": [1, { "Fn::Split": ["/", "a/b/c"] }] }, "b"],
])("resolves %s", (_, value, expected) => {
  expect(valueOf(value)).toBe(expected);
});

test("rejects an intrinsic function that it does not know, by its name", () => {
  expect(() => valueOf({ "Fn::ImportValue": "elsewhere" })).toThrow("Fn::ImportValue");
});

test("rejects a reference to nothing", () => {
  expect(() => valueOf({ Ref: "Nowhere" })).toThrow("Nowhere");
});

test("lists the resources of a type with their properties resolved", () => {
  const template = resolve({
    ...resources,
    Mapping: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: { EventSourceArn: { "Fn::GetAtt": ["Parts5E6F", "Arn"] }, Nested: [{ Name: { Ref: "Named" } }] },
    },
  });
  const schema = z.object({ EventSourceArn: z.string(), Nested: z.array(z.object({ Name: z.string() })) });
  expect([...template.resourcesOf("AWS::Lambda::EventSourceMapping", schema)]).toEqual([
    [
      "Mapping",
      { EventSourceArn: "arn:aws:sqs:us-east-1:000000000000:Stack-us-Parts5E6F", Nested: [{ Name: "given" }] },
    ],
  ]);
});
