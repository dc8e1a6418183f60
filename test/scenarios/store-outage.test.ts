import { Logger } from "@aws-lambda-powertools/logger";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import { createDynamoDbClient } from "../../lib/aws/dynamodb-client.ts";
import { createCaller } from "../support/service.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { aroundRequests, failRequests } from "../support/faults.ts";

const OUTAGES = [
  "AccessDeniedException",
  "ResourceNotFoundException",
  "UnrecognizedClientException",
  "ExpiredTokenException",
];

describe("a table that cannot be used", () => {
  let runtime: TestRuntime;
  let caller: Awaited<ReturnType<typeof createTestOrganization>>;
  beforeAll(async () => {
    runtime = await createTestRuntime();
    caller = await createTestOrganization(runtime);
    await apply(runtime, [{ external_id: "known" }]);
  });
  const callOf = (from: TestRuntime) => createCaller(from, caller.key);
  const apply = (from: TestRuntime, work_items: readonly object[]) =>
    callOf(from)("applyWorkItemBatch", { body: { work_items } });

  /** The runtime with a client whose requests to WorkItems fail. @param only the commands that do */
  const failing = (name: string, only: RegExp): TestRuntime => {
    const dynamodb = createDynamoDbClient();
    failRequests(dynamodb, (command, input) =>
      only.test(command) && JSON.stringify(input).includes(runtime.environment.WORK_ITEMS_TABLE)
        ? { name, httpStatusCode: 400 }
        : undefined,
    );
    return { ...runtime, dynamodb, log: new Logger() };
  };
  const writes = /Put|Update|BatchExecute|Transact/;

  it.each(OUTAGES)("is 503 with Retry-After to every call, reads and writes: %s", async (name) => {
    const params = { id: workItemId(caller.organization.id, "known") };
    const responses = [
      await callOf(failing(name, /./))("getWorkItem", { params }),
      await callOf(failing(name, writes))("updateWorkItem", { params, body: { work_item: { type: "x" } } }),
      await callOf(failing(name, writes))("createWorkItem", { body: { work_item: { external_id: `new ${name}` } } }),
      await apply(failing(name, writes), [{ external_id: "known", type: "y" }]),
      await apply(
        failing(name, writes),
        Array.from({ length: 30 }, (_, index) => ({ external_id: `${name} ${index}` })),
      ),
    ];
    expect(responses.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual(
      responses.map(() => [503, "1"]),
    );
  });

  it("is logged with its code", async () => {
    const from = failing("AccessDeniedException", writes);
    const error = vi.spyOn(from.log, "error").mockImplementation(() => undefined);
    await apply(from, [{ external_id: "a" }, { external_id: "b" }]);
    expect(error).toHaveBeenCalledWith("the store refuses writes", { codes: ["AccessDeniedException"] });
  });

  it("is tried again: where a batch fails as a whole for a moment, each of its items succeeds", async () => {
    let failures = 2;
    const dynamodb = createDynamoDbClient();
    failRequests(dynamodb, (command) =>
      command === "BatchExecuteStatementCommand" && failures-- > 0
        ? { name: "ValidationException", httpStatusCode: 400 }
        : undefined,
    );
    const items = Array.from({ length: 60 }, (_, index) => ({ external_id: `again ${index}` }));
    const { body } = await apply({ ...runtime, dynamodb }, items);
    expect(body).toMatchObject({ data: { summary: { created: 60, error: 0 } } });
  });

  it("leaves out a response of a batch for one item only", async () => {
    const dynamodb = createDynamoDbClient();
    aroundRequests(dynamodb, async (command, _, send) => {
      const response = await send();
      if (command === "BatchExecuteStatementCommand") (response.output as { Responses?: object[] }).Responses?.pop();
      return response;
    });
    const items = Array.from({ length: 5 }, (_, index) => ({ external_id: `missing ${index}` }));
    const { body } = await apply({ ...runtime, dynamodb }, items);
    expect(body).toMatchObject({ data: { summary: { created: 5, error: 0 } } });
  });
});
