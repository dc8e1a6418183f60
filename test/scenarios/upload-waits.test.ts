import type { SendMessageBatchCommandInput, SendMessageCommandInput, SQSClient } from "@aws-sdk/client-sqs";
import { beforeEach, describe, expect, it } from "vitest";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { aroundRequests, failRequests, type Fault, injectFaults } from "../support/faults.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { s3Event, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createUploadService, manyRows, type UploadService } from "../support/uploads/upload-service.ts";

interface Sent {
  readonly body: string;
  readonly delay: number;
  readonly attributes: SendMessageCommandInput["MessageAttributes"];
}

/** Records the messages that are sent from now on. */
const recordMessages = (sqs: SQSClient): Sent[] => {
  const sent: Sent[] = [];
  aroundRequests(sqs, (_, input: SendMessageCommandInput & SendMessageBatchCommandInput, send) => {
    for (const { MessageBody = "", DelaySeconds = 0, MessageAttributes } of input.Entries ?? [input]) {
      sent.push({ body: MessageBody, delay: DelaySeconds, attributes: MessageAttributes });
    }
    return send();
  });
  return sent;
};

/** The event of a message that was sent. */
const eventOf = ({ body, attributes = {} }: Sent) => {
  const event = sqsEvent(body);
  for (const record of event.Records) {
    record.messageAttributes = Object.fromEntries(
      Object.entries(attributes).map(([name, { DataType = "", StringValue = "" }]) => [
        name,
        { dataType: DataType, stringValue: StringValue },
      ]),
    );
  }
  return event;
};

const throttled = { name: "ThrottlingException", httpStatusCode: 400 };
const WRITES = /^(BatchExecuteStatement|PutItem|Put)Command$/;
const forbidden = { name: "AccessDeniedException", httpStatusCode: 400 };
/** Time that each refused request takes the client. */
const REFUSAL_MS = 4000;
const WORKER_MS = 120_000;
const RUNS = 7;

let uploads: UploadService;
let sent: Sent[];
beforeEach(async () => {
  uploads = await createUploadService();
  sent = recordMessages(uploads.runtime.sqs);
});

/** Hands the last message to its worker when it is due. */
const work = async (worker: "split" | "apply"): Promise<void> => {
  const last = sent.at(-1);
  if (last === undefined) throw new Error("no message was sent");
  uploads.clock.advance(last.delay * 1000);
  await uploads.harness[worker](eventOf(last), lambdaContext(WORKER_MS));
};
const throttle = (commands: RegExp): (() => void) =>
  failRequests(uploads.runtime.dynamodb, (command) => {
    if (!commands.test(command)) return undefined;
    uploads.clock.advance(REFUSAL_MS);
    return throttled;
  });

/** The waits between runs of a worker whose requests are refused. */
const waitsOf = async (worker: "split" | "apply", commands: RegExp): Promise<readonly number[]> => {
  const before = sent.length;
  const stop = throttle(commands);
  for (let run = 0; run < RUNS; run++) await work(worker);
  stop();
  return sent.slice(before).map(({ delay }) => delay);
};

describe("a worker that is rejected", () => {
  it("tries again after two seconds, then after as long as it was rejected, at most thirty seconds", async () => {
    const id = await uploads.begin(manyRows(3));
    const waits = await waitsOf("apply", WRITES);
    expect(waits).toHaveLength(RUNS);
    expect([waits[0], waits.at(-1)]).toEqual([2, 30]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    await work("apply");
    expect(await uploads.get(id)).toMatchObject({ status: "completed", created_rows: 3 });
  });

  it("does so too before it knows its job", async () => {
    await uploads.begin(manyRows(3));
    expect(await waitsOf("apply", /^Get/)).toEqual([2, 4, 8, 16, 30, 30, 30]);
  });

  it("does so too where it splits", async () => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(3));
    await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(WORKER_MS));
    expect(await waitsOf("split", /^Get/)).toEqual([2, 4, 8, 16, 30, 30, 30]);
    await work("split");
    await work("apply");
    expect(await uploads.get(id)).toMatchObject({ status: "completed", created_rows: 3 });
  });

  it("waits for the end of its claim if it could not give it back", async () => {
    const id = await uploads.begin(manyRows(3));
    let isClaimed = false;
    const stop = failRequests(uploads.runtime.dynamodb, (command) => {
      const fails = isClaimed && (command.startsWith("Update") || WRITES.test(command));
      isClaimed ||= command.startsWith("Update");
      if (fails) uploads.clock.advance(REFUSAL_MS);
      return fails ? throttled : undefined;
    });
    await work("apply");
    stop();
    expect(sent.at(-1)?.delay).toBe(CLAIM_MS / 1000);
    await work("apply");
    expect(await uploads.get(id)).toMatchObject({ status: "completed", created_rows: 3 });
  });

  it("does so too if it has the next window without knowing it", async () => {
    const rows = Array.from({ length: 1500 }, (_, row) => `${row}\n`);
    const id = await uploads.begin(`external_id\n${rows.join("")}`);
    // The claim; then the count of the first window, which is carried out, and whose response is lost.
    const faults: Fault[] = ["none", "lost response", "unreachable", "unreachable"];
    const stop = injectFaults(uploads.runtime.dynamodb, (command) => {
      const fault = (command === "UpdateItemCommand" && faults.shift()) || "none";
      if (fault === "unreachable") uploads.clock.advance(REFUSAL_MS);
      return fault;
    });
    await work("apply");
    stop();
    expect(sent.at(-1)?.delay).toBe(CLAIM_MS / 1000);
    await work("apply");
    expect(await uploads.get(id)).toMatchObject({ status: "completed", created_rows: 1500 });
  });

  it.each(["apply", "split"] as const)("is never the reason that its job fails: %s", async (worker) => {
    const { id } = await uploads.harness.upload(uploads.organization, manyRows(3));
    await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(WORKER_MS));
    if (worker === "apply") await work("split");
    for (let run = 0; run < 2 * RUNS; run++) {
      let updates = 0;
      // The claim succeeds, and nothing after it.
      const stop = failRequests(uploads.runtime.dynamodb, (command) => {
        if (!WRITES.test(command) && !(command.startsWith("Update") && updates++ > 0)) return undefined;
        uploads.clock.advance(REFUSAL_MS);
        return forbidden;
      });
      await work(worker);
      stop();
    }
    if (worker === "split") await work("split");
    await work("apply");
    expect(await uploads.get(id)).toMatchObject({ status: "completed", created_rows: 3 });
  });

  it("begins with two seconds again when it has applied rows in between", async () => {
    // One shard, of two windows.
    const rows = Array.from({ length: 1500 }, (_, row) => `${row}\n`);
    await uploads.begin(`external_id\n${rows.join("")}`);
    const waits = await waitsOf("apply", WRITES);
    expect(waits.at(-1)).toBe(30);
    let requests = 0;
    const stop = failRequests(uploads.runtime.dynamodb, (command) => {
      if (!WRITES.test(command) || requests++ < 45) return undefined;
      uploads.clock.advance(REFUSAL_MS);
      return throttled;
    });
    await work("apply");
    stop();
    expect(sent.at(-1)?.delay).toBe(2);
  });

  it.each([
    ["split", "s3", /^GetObject/, "reading the file makes no progress"],
    ["apply", "dynamodb", WRITES, "applying the rows after row 0 makes no progress"],
    [
      "apply",
      "s3",
      /^GetObject/,
      "applying the rows after row 0 makes no progress; some of the last rows may be applied and not counted",
    ],
  ] as const)(
    "fails its job after a day in which nothing went well: %s, %s",
    async (worker, client, refused, error) => {
      const { id } = await uploads.harness.upload(uploads.organization, manyRows(3));
      await uploads.harness.split(sqsEvent(s3Event(uploads.jobKey(id))), lambdaContext(WORKER_MS));
      if (worker === "apply") await work("split");
      const stop = failRequests(uploads.runtime[client], (command) => (refused.test(command) ? forbidden : undefined));
      await work(worker);
      uploads.clock.advance(24 * 3_600_000 - 10_000);
      await work(worker);
      expect(await uploads.get(id)).toMatchObject({ status: "processing" });
      await work(worker);
      stop();
      expect(await uploads.get(id)).toMatchObject({ status: "failed", error, succeeded_rows: 0 });
    },
  );
});
