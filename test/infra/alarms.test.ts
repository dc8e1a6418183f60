import { beforeEach, describe, expect, test } from "vitest";
import { putOrganization } from "../../apps/operator/data/administration.ts";
import { mapConcurrently } from "../../lib/retry.ts";
import { createCloudWatch } from "./alarms/cloudwatch.ts";
import { withoutTimeouts } from "../support/faults.ts";
import { ORIGIN_KEY } from "../../lib/store/table-origin.ts";
import { overwrite } from "../support/customer-data.ts";
import { synthesize } from "./synthesized.ts";
import { createWatchedService, nothing, periodsOf, type Service } from "./alarms/watched-service.ts";

beforeEach(withoutTimeouts);
const PERIODS_OF_A_DAY = 24 * 12;

const getItem = (service: Service) =>
  service.request("getWorkItem", { params: { id: "11111111-1111-4111-8111-111111111111" } });

describe("a service that works", () => {
  test("triggers no alarm, neither at its first deployment nor in a quiet night", async () => {
    const service = await createWatchedService();
    expect(await periodsOf(service, 4, nothing)).toEqual([[], [], [], []]);
    const quiet = await periodsOf(service, 4, async () => {
      await service.invoke("sweepUploads", {});
      expect((await getItem(service)).status).toBe(404);
    });
    expect(quiet).toEqual([[], [], [], []]);
  });
});

/** What alarms do when there are no data any more. */
const WHEN_SILENT: Readonly<Record<string, "fires" | "nothing happens" | "another fires">> = {
  SweepStopped: "fires",
  WebhooksSweepStopped: "fires",
  ChangesSweepStopped: "fires",
  ChangesLate: "fires",
  ChangesWaiting: "fires",
  RetentionBehind: "fires",
  // There are no requests, calls or failures. A probe from outside notices that no request arrives.
  ServerErrors: "nothing happens",
  Latency: "nothing happens",
  ThrottledWrites: "nothing happens",
  ThrottledReads: "nothing happens",
  Unauthorized: "nothing happens",
  RateLimited: "nothing happens",
  LimiterFailingOpen: "nothing happens",
  StoreRefusals: "nothing happens",
  DirectCallsFailing: "nothing happens",
  DataRefused: "nothing happens",
  ChangesFailing: "nothing happens",
  // SQS has metrics of every queue in which a message waits.
  DeadLetters: "nothing happens",
  SplitQueueAge: "nothing happens",
  ChunksQueueAge: "nothing happens",
  ChangesQueueAge: "nothing happens",
  WebhooksQueueAge: "nothing happens",
  WebhooksFailing: "nothing happens",
  // SweepStopped does: the sweep of uploads measures both.
  JobAge: "another fires",
  FilesWaiting: "another fires",
  // WebhooksSweepStopped does: the sweep of webhooks counts.
  WebhooksUnreachable: "another fires",
};

describe("silence", () => {
  test("triggers the alarms whose data always arrive, each once, and no other", async () => {
    const service = await createWatchedService();
    expect(new Set(service.alarms)).toEqual(new Set(Object.keys(WHEN_SILENT)));
    const live = async (period: number) => {
      expect((await getItem(service)).status).toBe(404);
      await service.request("createWorkItem", { body: { work_item: { external_id: String(period) } } });
      for (const sweep of ["sweepUploads", "sweepWebhooks"] as const) await service.invoke(sweep, {});
      if (period % 2 === 0) await service.invoke("sweepChanges", {});
      if (period === 0) await service.invoke("eraseExpired", {});
      await service.readStream();
      await service.appendChanges();
    };
    expect((await periodsOf(service, 12, live)).flat()).toEqual([]);
    const fired = (await periodsOf(service, 2 * PERIODS_OF_A_DAY, nothing)).flat();
    const expected = Object.keys(WHEN_SILENT).filter((name) => WHEN_SILENT[name] === "fires");
    expect(fired.toSorted()).toEqual(expected.toSorted());
  });
});

describe("dead letters", () => {
  test("trigger DeadLetters once, for as long as they are there", async () => {
    const service = await createWatchedService();
    await service.sendDeadLetters({ organization: service.organization.id, id: "unknown" });
    expect(await periodsOf(service, 3, nothing)).toEqual([["DeadLetters"], [], []]);
  });
});

describe("data of another version", () => {
  test("triggers DataRefused after 15 minutes", async () => {
    const service = await createWatchedService();
    await overwrite(service.runtime, "WORK_ITEMS_TABLE", ORIGIN_KEY, "data_version", 2);
    const rung = await periodsOf(service, 3, () => service.invoke("sweepUploads", {}));
    expect(rung).toEqual([[], [], expect.arrayContaining(["DataRefused"])]);
  });
});

describe("an account without free concurrent executions", () => {
  test("triggers SweepStopped", async () => {
    const service = await createWatchedService();
    await periodsOf(service, 3, () => service.invoke("sweepUploads", {}));
    service.throttleLambda(["sweepUploads"]);
    const rung = await periodsOf(service, 3, () => service.invoke("sweepUploads", {}));
    expect(rung).toEqual([[], [], ["SweepStopped"]]);
  });

  test.each(["recordQaScore", "recordConversationUpload"] as const)("alarm on failures of %s", async (worker) => {
    const service = await createWatchedService();
    service.throttleLambda([worker]);
    await service.invoke(worker, {});
    expect(await service.endPeriod()).toEqual(["DirectCallsFailing"]);
  });
});

describe("requests", () => {
  test("trigger ServerErrors when they fail in two of three periods", async () => {
    const service = await createWatchedService();
    await getItem(service);
    service.breakDynamoDb(({ command }) => (command === "QueryCommand" ? "AccessDeniedException" : undefined));
    const rung = await periodsOf(service, 2, async () => {
      expect((await getItem(service)).status).toBe(503);
    });
    expect(rung).toEqual([[], ["ServerErrors"]]);
  });

  test("trigger Latency when they take longer than five seconds", async () => {
    const service = await createWatchedService();
    service.slowDynamoDb(2000);
    expect(await periodsOf(service, 3, () => getItem(service))).toEqual([[], [], ["Latency"]]);
  });

  test("trigger LimiterFailingOpen when the limiter's table does not respond", async () => {
    const service = await createWatchedService();
    const { LIMITS_TABLE: limits } = service.runtime.environment;
    service.breakDynamoDb(({ table }) => (table === limits ? "AccessDeniedException" : undefined));
    const rung = await periodsOf(service, 2, async () => {
      for (let count = 0; count < 10; count++) {
        expect((await getItem(service)).status).toBe(404);
        service.clock.advance(1100);
      }
    });
    expect(rung).toEqual([[], ["LimiterFailingOpen"]]);
  });

  test("trigger StoreRefusals when the table rejects a write", async () => {
    const service = await createWatchedService();
    service.breakDynamoDb(({ command }) => (command === "PutItemCommand" ? "AccessDeniedException" : undefined));
    await service.request("applyWorkItemBatch", { body: { work_items: [{ external_id: "a" }] } });
    expect(await service.endPeriod()).toEqual(["StoreRefusals"]);
  });

  test("trigger ThrottledWrites when DynamoDB throttles a hundred writes in two of three periods", async () => {
    const service = await createWatchedService();
    const rung = await periodsOf(service, 2, async (period) => {
      let throttled = 0;
      service.breakDynamoDb(({ command, statements }) => {
        if (command !== "BatchExecuteStatementCommand" || throttled >= 100) return undefined;
        throttled += statements;
        return "ProvisionedThroughputExceededException";
      });
      const items = Array.from({ length: 50 }, (_, index) => ({ external_id: `${period}-${index}` }));
      expect((await service.request("applyWorkItemBatch", { body: { work_items: items } })).status).toBe(200);
    });
    expect(rung).toEqual([[], ["ThrottledWrites"]]);
  });
});

describe("requests that are rejected", () => {
  const send = async (service: Service, count: number, status: number, request: object = {}) => {
    const params = { id: "11111111-1111-4111-8111-111111111111" };
    const requests = Array.from({ length: count }, () => ({ params, ...request }));
    // Requests that DynamoDB throttles wait before they try again.
    const responses = await mapConcurrently(requests, 50, (each) => service.request("getWorkItem", each));
    expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status]));
  };

  test("trigger Unauthorized when keys are invalid once a second", async () => {
    const service = await createWatchedService();
    const invalid = { key: `wi_us_${"0".repeat(38)}` };
    expect(await periodsOf(service, 2, () => send(service, 299, 401, invalid))).toEqual([[], []]);
    expect(await periodsOf(service, 2, () => send(service, 300, 401, invalid))).toEqual([[], ["Unauthorized"]]);
  });

  test("trigger RateLimited when a limit refuses more than three a second for a quarter of an hour", async () => {
    const service = await createWatchedService();
    await putOrganization({ ...service.runtime, region: "us" }, service.organization.id, { rate: 1, burst: 1 });
    const rung = await periodsOf(service, 3, async () => {
      await send(service, 1, 404);
      await send(service, 1000, 429);
    });
    expect(rung).toEqual([[], [], ["RateLimited"]]);
  });

  test("trigger ThrottledReads when DynamoDB throttles a hundred reads in two of three periods", async () => {
    const service = await createWatchedService();
    await send(service, 1, 404);
    const rung = await periodsOf(service, 2, async () => {
      service.breakDynamoDb(({ command }) =>
        command === "QueryCommand" ? "ProvisionedThroughputExceededException" : undefined,
      );
      await send(service, 100, 503);
    });
    expect(rung[1]).toContain("ThrottledReads");
  });
});

test("a certificate that expires within 30 days, or has expired, triggers CertificateExpires", () => {
  const certificate = "arn:aws:acm:us-east-1:111122223333:certificate/a";
  const { us } = synthesize({ regions: { us: { domain: { host: "us.example.com", certificate } }, eu: {} } });
  const cloudwatch = createCloudWatch(us);
  const days = [31, 29, undefined].map((left) => {
    if (left !== undefined)
      cloudwatch.record("AWS/CertificateManager", "DaysToExpiry", { CertificateArn: certificate }, left);
    const sent = Array.from({ length: PERIODS_OF_A_DAY }, () => cloudwatch.endPeriod());
    return sent.flat().filter((name) => name.endsWith("CertificateExpires"));
  });
  const sent = ["WorkItems-us-CertificateExpires"];
  expect(days).toEqual([[], sent, sent]);
});

describe("calls by other systems", () => {
  test.each([
    ["recordQaScore", { external_id: "a", qa_score: 1 }],
    ["recordConversationUpload", { external_id: "a", status: "pending", source: "s" }],
  ] as const)("trigger DirectCallsFailing: %s", async (worker, payload) => {
    const service = await createWatchedService();
    service.breakDynamoDb(() => "AccessDeniedException");
    await service.invoke(worker, { organization: service.organization.id, ...payload });
    expect(await service.endPeriod()).toEqual(["DirectCallsFailing"]);
  });

  test("trigger nothing when their payload is invalid: that is the caller's mistake", async () => {
    const service = await createWatchedService();
    await service.invoke("recordQaScore", { organization: service.organization.id, external_id: "a", qa_score: 2 });
    await service.invoke("recordQaScore", { organization: service.organization.id, external_id: "a", qa_score: 1 });
    expect(await service.endPeriod()).toEqual([]);
  });
});
