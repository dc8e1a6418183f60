import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, onTestFinished, test } from "vitest";
import { bodyOf } from "../../lib/changes/change-messages.ts";
import { workItemId } from "../../lib/identity.ts";
import { changeOrganization } from "../../apps/operator/data/administration.ts";
import { organizationRecordKey } from "../../lib/organizations/access-store.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createWatchedService, nothing, periodsOf, type Service } from "./alarms/watched-service.ts";
import { createCustomer, overwrite } from "../support/customer-data.ts";
import { keepFilesOnClock } from "../support/faults.ts";
import { createWebhookDelivery, startReceiver } from "../support/webhooks.ts";

/** The alarms that were triggered, each with the minutes after which. */
const minutesOf = (rung: readonly (readonly string[])[]) =>
  rung.flatMap((names, period) => names.map((name) => [name, (period + 1) * 5]));

describe("upload jobs", () => {
  const upload = async () => {
    const service = await createWatchedService();
    const harness = createUploadHarness(service.runtime);
    const job = await harness.upload(service.organization, "external_id\na\n");
    return { service, harness, job };
  };
  const sweep = (service: Service) => () => service.invoke("sweepUploads", {});

  test("trigger FilesWaiting when no worker reads a file, and SplitQueueAge when its messages wait", async () => {
    const { service } = await upload();
    const rung = await periodsOf(service, 38, sweep(service));
    expect(minutesOf(rung)).toEqual([
      ["FilesWaiting", 35],
      ["SplitQueueAge", 190],
    ]);
  });

  /** A form that was requested so long ago and is posted now. */
  const post = async (minutes: number) => {
    const service = await createWatchedService();
    keepFilesOnClock(service.runtime.s3, service.clock);
    const harness = createUploadHarness(service.runtime);
    const form = { upload: { filename: "a.csv", size: 5 * 1024 ** 3 } };
    const { text } = await service.request("uploadWorkItems", { body: form });
    const { data } = JSON.parse(text) as { data: { id: string } };
    await periodsOf(service, minutes / 5, sweep(service));
    const job = { organization: service.organization.id, id: data.id };
    await harness.objects.write(objectKeys.source(job), Buffer.from("external_id\na\n"), "text/csv");
    return { service, harness, job };
  };

  test("that come by a form trigger FilesWaiting as long after the file came as others", async () => {
    const { service } = await post(15);
    const rung = await periodsOf(service, 7, sweep(service));
    expect(minutesOf(rung)).toEqual([["FilesWaiting", 35]]);
  });

  test("that come by a form trigger JobAge six hours after the file came, however old the form", async () => {
    const { service, harness, job } = await post(60);
    await harness.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    const rung = await periodsOf(service, 75, sweep(service));
    expect(minutesOf(rung)).toEqual([
      ["ChunksQueueAge", 65],
      ["JobAge", 365],
    ]);
  });

  test("that come by a form are as young as their file to the workers of their rows, too", async () => {
    const { service, harness, job } = await post(300);
    await harness.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    await periodsOf(service, 13, sweep(service));
    await service.invoke("applyUploadChunk", sqsEvent(...(await harness.take("chunks"))));
    expect((await harness.store.readJob(job))?.status).toBe("completed");
    expect(await service.endPeriod()).toEqual([]);
  });

  test("trigger ChunksQueueAge when no worker applies chunks, and JobAge after six hours", async () => {
    const { service, harness, job } = await upload();
    await harness.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    const rung = await periodsOf(service, 75, sweep(service));
    expect(minutesOf(rung)).toEqual([
      ["ChunksQueueAge", 65],
      ["JobAge", 365],
    ]);
  });

  test("trigger SweepStopped when every sweep fails", async () => {
    const { service } = await upload();
    service.breakDynamoDb(() => "AccessDeniedException");
    expect(await periodsOf(service, 3, sweep(service))).toEqual([[], [], ["SweepStopped"]]);
  });
});

describe("the change feed", () => {
  /** Five minutes of a feed: writes all the time, a sweep every ten minutes, and the workers, or only the first. */
  const feed = (service: Service, ...workersOn: ("stream" | "queue")[]) => {
    let written = 0;
    return async (period: number) => {
      await service.request("createWorkItem", {
        body: { work_item: { external_id: `${service.clock()}-${written++}` } },
      });
      if (period % 2 === 0) await service.invoke("sweepChanges", {});
      if (workersOn.includes("stream")) await service.readStream();
      if (workersOn.includes("queue")) await service.appendChanges();
    };
  };
  const THREE_HOURS = 29;

  test("that works triggers nothing, neither from its first sweep on nor after a sweep that failed", async () => {
    const service = await createWatchedService();
    const working = feed(service, "stream", "queue");
    expect((await periodsOf(service, 4, working)).flat()).toEqual([]);
    service.breakDynamoDb(() => "AccessDeniedException");
    await service.invoke("sweepChanges", {});
    service.breakDynamoDb(() => undefined);
    await service.endPeriod();
    await service.endPeriod();
    expect((await periodsOf(service, 6, working)).flat()).toEqual([]);
  });

  test("triggers ChangesLate and ChangesWaiting when the stream isn't read any more, and both sooner when it never was", async () => {
    const service = await createWatchedService();
    await periodsOf(service, 4, feed(service, "stream", "queue"));
    expect(minutesOf(await periodsOf(service, THREE_HOURS, feed(service)))).toEqual([
      ["ChangesLate", 35],
      ["ChangesWaiting", 135],
    ]);
    const never = await createWatchedService();
    expect(minutesOf(await periodsOf(never, 6, feed(never)))).toEqual([
      ["ChangesLate", 20],
      ["ChangesWaiting", 20],
    ]);
  });

  test("triggers ChangesLate, ChangesQueueAge and ChangesWaiting when changes wait in the queue", async () => {
    const service = await createWatchedService();
    await periodsOf(service, 4, feed(service, "stream", "queue"));
    expect(minutesOf(await periodsOf(service, THREE_HOURS, feed(service, "stream")))).toEqual([
      ["ChangesLate", 35],
      ["ChangesQueueAge", 65],
      ["ChangesWaiting", 140],
    ]);
  });

  test("triggers ChangesFailing when an organization can't be appended to for 15 minutes, also while its gap can't be put", async () => {
    const service = await createWatchedService();
    const { id } = service.organization;
    await overwrite(service.runtime, "ACCESS_TABLE", organizationRecordKey(id), "changes_from");
    const message = bodyOf({ organization: id, ids: [workItemId(id, "a")], jobs: [], writtenAt: service.clock() });
    const append = () => service.invoke("appendChanges", sqsEvent(message));
    const sweep = async (period: number) => void (period % 2 === 0 && (await service.invoke("sweepChanges", {})));
    const failing = async (periods: number, act: (period: number) => Promise<unknown>) =>
      minutesOf(await periodsOf(service, periods, act)).filter(([name]) => name === "ChangesFailing");
    expect(await failing(14, append)).toEqual([["ChangesFailing", 20]]);
    // The alarm stays on: it isn't triggered again.
    expect(await failing(12, sweep)).toEqual([]);
    await overwrite(service.runtime, "ACCESS_TABLE", organizationRecordKey(id), "changes_from", 1);
    expect(await failing(6, sweep)).toEqual([]);
    await overwrite(service.runtime, "ACCESS_TABLE", organizationRecordKey(id), "changes_from");
    expect(await failing(6, append)).toEqual([["ChangesFailing", 20]]);
  });

  test.each(["isn't started", "fails"])(
    "triggers ChangesSweepStopped when its sweep %s, and is late then",
    async (how) => {
      const service = await createWatchedService();
      await periodsOf(service, 4, feed(service, "stream", "queue"));
      if (how === "fails") service.breakDynamoDb(() => "AccessDeniedException");
      const sweep = how === "fails" ? () => service.invoke("sweepChanges", {}) : nothing;
      expect(minutesOf(await periodsOf(service, THREE_HOURS, sweep))).toEqual([
        ["ChangesLate", 25],
        ["ChangesSweepStopped", 55],
        ["ChangesWaiting", 115],
      ]);
    },
  );
});

describe("the retention", () => {
  /** A day with a run in each hour. */
  const day = (service: Service, act: () => Promise<unknown>) => async (): Promise<string[]> =>
    (await periodsOf(service, 24 * 12, async (period) => void (period % 12 === 0 && (await act())))).flat();
  const erase = (service: Service) => () => service.invoke("eraseExpired", {});

  test("triggers RetentionBehind when a run fails, and when none is started any more", async () => {
    const service = await createWatchedService();
    const [good, missing] = [day(service, erase(service)), day(service, nothing)];
    expect([await good(), await good(), await missing()]).toEqual([[], [], ["RetentionBehind"]]);
    service.breakDynamoDb(() => "AccessDeniedException");
    expect([await good(), await good()]).toEqual([["RetentionBehind"], []]);
  });

  test("triggers nothing when the runs of most of a day fail, and RetentionBehind after a whole day of them", async () => {
    const service = await createWatchedService();
    await erase(service)();
    await service.endPeriod();
    service.breakDynamoDb(() => "AccessDeniedException");
    const hours = (count: number) =>
      periodsOf(service, count * 12, async (period) => void (period % 12 === 0 && (await erase(service)())));
    expect((await hours(23)).flat()).toEqual([]);
    expect((await hours(2)).flat()).toEqual(["RetentionBehind"]);
  });

  test("triggers RetentionBehind when a run leaves items of an organization, and not when a second run erases them", async () => {
    const service = await createWatchedService();
    const { id } = service.organization;
    const { WORK_ITEMS_TABLE: items } = service.runtime.environment;
    await changeOrganization(service.runtime, id, { retention_days: 30 });
    expect(await day(service, erase(service))()).toEqual([]);
    service.breakDynamoDb(({ table }) => (table === items ? "AccessDeniedException" : undefined));
    expect(await day(service, erase(service))()).toEqual(["RetentionBehind"]);
    const twice = await createWatchedService();
    const failsFirst = async () => {
      twice.breakDynamoDb(() => "AccessDeniedException");
      await twice.invoke("eraseExpired", {});
      twice.breakDynamoDb(() => undefined);
      await twice.invoke("eraseExpired", {});
    };
    expect(await day(twice, failsFirst)()).toEqual([]);
  });
});

describe("webhooks", () => {
  test("trigger WebhooksQueueAge when their news wait for an hour", async () => {
    const service = await createWatchedService();
    const { sqs, environment } = service.runtime;
    const MessageBody = JSON.stringify({ kind: "news", organization: service.organization.id, mark: 1 });
    await sqs.send(new SendMessageCommand({ QueueUrl: environment.WEBHOOKS_QUEUE_URL, MessageBody }));
    const rung = await periodsOf(service, 14, nothing);
    expect(minutesOf(rung)).toEqual([["WebhooksQueueAge", 65]]);
  });

  test("trigger WebhooksFailing when none of their messages is handled for 15 minutes", async () => {
    const service = await createWatchedService();
    const event = sqsEvent({ kind: "news", organization: service.organization.id, mark: 1 });
    const deliver = () => service.invoke("deliverWebhooks", event);
    service.breakDynamoDb(() => "ValidationException");
    expect(await periodsOf(service, 4, deliver)).toEqual([[], [], ["WebhooksFailing"], []]);
    const handling = await createWatchedService();
    for (const fault of ["ValidationException", undefined] as const) {
      handling.breakDynamoDb(() => fault);
      expect(await periodsOf(handling, 2, () => handling.invoke("deliverWebhooks", event))).toEqual([[], []]);
    }
  });

  test("trigger WebhooksSweepStopped when their sweep stops, and when it fails", async () => {
    const service = await createWatchedService();
    await periodsOf(service, 1, () => service.invoke("sweepWebhooks", {}));
    expect((await periodsOf(service, 4, nothing)).flat()).toEqual(["WebhooksSweepStopped"]);
    const failing = await createWatchedService();
    await failing.invoke("sweepWebhooks", {});
    failing.breakDynamoDb(() => "AccessDeniedException");
    const rung = await periodsOf(failing, 4, () => failing.invoke("sweepWebhooks", {}));
    expect(rung.flat()).toContain("WebhooksSweepStopped");
  });

  /** Webhooks of so many organizations, a function that handles five minutes of them, and one that stops their receivers. */
  const webhooksOf = async (organizations: number, answer?: Parameters<typeof startReceiver>[0]) => {
    const service = await createWatchedService();
    const delivery = await createWebhookDelivery(service.runtime);
    const receivers = await Promise.all(Array.from({ length: organizations }, () => startReceiver(answer)));
    const stop = () => Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
    onTestFinished(() => void stop());
    const customers = await Promise.all(receivers.map(() => createCustomer(service.runtime)));
    for (const [index, { url }] of receivers.entries())
      await customers[index]!.send("createWebhook", { body: { webhook: { url } } });
    const work = async (period: number): Promise<void> => {
      for (const customer of customers) await customer.apply({ external_id: `${service.clock()}-${period}` });
      await delivery.ring();
      await service.invoke("sweepWebhooks", {});
      await delivery.drain();
    };
    return { service, work, stop };
  };
  const unreachable = (rung: readonly (readonly string[])[]) =>
    minutesOf(rung).filter(([name]) => name === "WebhooksUnreachable");

  test("trigger WebhooksUnreachable when no receiver of three organizations can be reached", async () => {
    const { service, work, stop } = await webhooksOf(3);
    expect(unreachable(await periodsOf(service, 2, work))).toEqual([]);
    await stop();
    expect(unreachable(await periodsOf(service, 9, work))).toEqual([["WebhooksUnreachable", 30]]);
    // Calls come each hour by now. The alarm stays on, and isn't triggered again.
    expect(unreachable(await periodsOf(service, 13, work))).toEqual([]);
    expect(service.stateOf("WebhooksUnreachable")).toBe("ALARM");
  });

  test("trigger no alarm while the receivers of only two organizations, or of three but not all, can't be reached", async () => {
    const two = await webhooksOf(2);
    await two.stop();
    expect(unreachable(await periodsOf(two.service, 7, two.work))).toEqual([]);
    const { service, work, stop } = await webhooksOf(3);
    const customer = await createCustomer(service.runtime);
    const reached = await startReceiver();
    onTestFinished(() => void reached.stop());
    await customer.send("createWebhook", { body: { webhook: { url: reached.url } } });
    await stop();
    const rung = await periodsOf(service, 7, async (period) => {
      await customer.apply({ external_id: String(period) });
      await work(period);
    });
    expect(unreachable(rung)).toEqual([]);
  });

  test("trigger no alarm while all receivers answer 500: they can be reached", async () => {
    const { service, work } = await webhooksOf(3, (_, response) => response.writeHead(500).end());
    expect(unreachable(await periodsOf(service, 7, work))).toEqual([]);
  });
});
