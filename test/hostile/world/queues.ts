import { randomUUID } from "node:crypto";
import type {
  ChangeMessageVisibilityBatchCommandInput,
  SendMessageBatchCommandInput,
  SendMessageBatchRequestEntry,
  SendMessageCommandInput,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { sentOutcomes } from "../../support/changes-queue.ts";
import type { World } from "./world.ts";

const DEDUPLICATION_MS = 5 * 60_000;
const REFUSED_SHARE = 0.05;
const TWICE_SHARE = 0.1;
const LATE_SHARE = 0.2;
const LOST_SHARE = 0.08;
const LATE_MAX_MS = 15 * 60_000;

/** A queue, and the function that takes its messages. */
export interface Queue {
  readonly url: string;
  /** One batch of a group is in flight, and a deduplication id counts once. @default messages come in any order */
  readonly isFifo?: boolean;
  readonly visibilityMs: number;
  /** Most messages that the function gets at once. */
  readonly batch: number;
  /** Whether a message may be lost for ever: something else notices. SQS loses none, but whoever sends it may. */
  readonly mayLose?: boolean;
  /** Runs the function. @returns the ids of messages that failed; undefined if it was stopped */
  readonly invoke: (records: SQSRecord[]) => Promise<ReadonlySet<string> | undefined>;
}

interface Message {
  readonly id: string;
  readonly group: string;
  readonly body: string;
  readonly attributes: SQSRecord["messageAttributes"];
  /** Of its last receive. An older one deletes nothing. */
  receipt: string;
  receives: number;
  /** It is in flight until then, in milliseconds since the epoch. */
  visibleAt: number;
}

/** SQS by the clock of a world: messages wait in memory, and come late, twice, in any order or not at all. */
export class Queues {
  readonly #world: World;
  readonly #queues = new Map<string, Queue & { readonly messages: Message[] }>();
  readonly #sentAt = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    // Below the step in which requests fail, are frozen or killed.
    world.base.sqs.middlewareStack.add(
      (next, { commandName }) =>
        (request) => {
          const output = this.#serve(String(commandName), request.input);
          return output === undefined ? next(request) : (Promise.resolve({ output, response: {} }) as never);
        },
      { step: "serialize", name: "queues" },
    );
  }

  add(queue: Queue): void {
    this.#queues.set(queue.url, { ...queue, messages: [] });
  }

  /** How many messages wait or are in flight that have a text in them. */
  count(text = ""): number {
    return [...this.#queues.values()].flatMap(({ messages }) => messages.filter(({ body }) => body.includes(text)))
      .length;
  }

  /** Puts a message into a queue, as another service does. */
  put(url: string, body: string): void {
    this.#accept(url, { Id: "", MessageBody: body });
  }

  #serve(command: string, input: unknown): object | undefined {
    if (command === "SendMessageCommand") {
      const { QueueUrl = "", ...message } = input as SendMessageCommandInput;
      this.#accept(QueueUrl, { Id: "0", ...message });
      return sentOutcomes([{ Id: "0", ...message }])[0];
    }
    if (command === "SendMessageBatchCommand") return this.#sendBatch(input as SendMessageBatchCommandInput);
    if (command === "ChangeMessageVisibilityBatchCommand") {
      const { QueueUrl = "", Entries = [] } = input as ChangeMessageVisibilityBatchCommandInput;
      for (const { ReceiptHandle, VisibilityTimeout = 0 } of Entries) {
        const message = this.#queues.get(QueueUrl)?.messages.find(({ receipt }) => receipt === ReceiptHandle);
        if (message !== undefined) this.#wait(QueueUrl, message, VisibilityTimeout * 1000);
      }
      return { Successful: [], Failed: [] };
    }
    return undefined;
  }
  #sendBatch({ QueueUrl = "", Entries = [] }: SendMessageBatchCommandInput): object {
    const { hostilities, random } = this.#world;
    const refused = new Set(Entries.filter(() => hostilities.happens("messages", REFUSED_SHARE, random)));
    for (const entry of Entries) if (!refused.has(entry)) this.#accept(QueueUrl, entry);
    return {
      Successful: sentOutcomes(Entries.filter((entry) => !refused.has(entry))),
      Failed: [...refused].map(({ Id }) => ({ Id, SenderFault: false, Code: "InternalError" })),
    };
  }

  #accept(url: string, entry: SendMessageBatchRequestEntry): void {
    const queue = this.#queues.get(url);
    if (queue === undefined) throw new Error(`no one takes the messages of ${url}`);
    const { clock, hostilities, random } = this.#world;
    const { MessageGroupId: group = "", MessageDeduplicationId: id, MessageBody: body = "" } = entry;
    const before = id === undefined ? undefined : this.#sentAt.get(`${group} ${id}`);
    if (before !== undefined && clock() - before < DEDUPLICATION_MS) return;
    if (id !== undefined) this.#sentAt.set(`${group} ${id}`, clock());
    if (queue.mayLose === true && hostilities.happens("messages", LOST_SHARE, random)) return;
    const attributes = Object.entries(entry.MessageAttributes ?? {}).map(
      ([name, { DataType, StringValue }]) => [name, { dataType: DataType, stringValue: StringValue }] as const,
    );
    const made = (): Message => ({
      id: randomUUID(),
      group,
      body,
      attributes: Object.fromEntries(attributes) as SQSRecord["messageAttributes"],
      receipt: "",
      receives: 0,
      visibleAt: 0,
    });
    const isTwice = queue.isFifo !== true && hostilities.happens("messages", TWICE_SHARE, random);
    for (const message of isTwice ? [made(), made()] : [made()]) {
      const isLate = hostilities.happens("messages", LATE_SHARE, random);
      const delay = (entry.DelaySeconds ?? 0) * 1000 + Math.floor(random() * 200);
      queue.messages.push(message);
      this.#wait(url, message, delay + (isLate ? Math.floor(random() * random() * LATE_MAX_MS) : 0));
    }
  }

  #wait(url: string, message: Message, milliseconds: number): void {
    message.visibleAt = this.#world.clock() + milliseconds;
    this.#world.at(message.visibleAt, () => this.#deliver(url));
  }

  #visible({ messages, isFifo, batch }: Queue & { readonly messages: readonly Message[] }): Message[] {
    const { clock, random } = this.#world;
    const isVisible = ({ visibleAt }: Message): boolean => visibleAt <= clock();
    const busy = new Set(messages.filter((message) => isFifo && !isVisible(message)).map(({ group }) => group));
    const free = messages.filter((message) => isVisible(message) && !busy.has(message.group));
    const order = new Map(free.map((message) => [message, isFifo ? 0 : random()]));
    return free.toSorted((a, b) => order.get(a)! - order.get(b)!).slice(0, 1 + Math.floor(random() * batch));
  }

  /** Gives a batch of what is visible to the function; what is left comes a little later. */
  #deliver(url: string): void {
    const queue = this.#queues.get(url)!;
    const { clock } = this.#world;
    const batch = this.#visible(queue);
    if (batch.length === 0) return;
    for (const message of batch) {
      message.receipt = randomUUID();
      message.receives += 1;
      this.#wait(url, message, queue.visibilityMs);
    }
    this.#world.at(clock() + 50, () => this.#deliver(url));
    const receipts = new Map(batch.map(({ id, receipt }) => [id, receipt]));
    const records = batch.map((message): SQSRecord => ({
      messageId: message.id,
      receiptHandle: message.receipt,
      body: message.body,
      attributes: {
        ApproximateReceiveCount: String(message.receives),
        MessageGroupId: message.group,
        SentTimestamp: "0",
        SenderId: "test",
        ApproximateFirstReceiveTimestamp: "0",
      },
      messageAttributes: message.attributes,
      md5OfBody: "",
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${url.split("/").at(-1)}`,
      awsRegion: "us-east-1",
    }));
    void queue.invoke(records).then(
      (failed) => {
        if (failed === undefined) return;
        const isDone = ({ id, receipt }: Message): boolean => receipts.get(id) === receipt && !failed.has(id);
        for (const message of queue.messages.filter(isDone)) {
          queue.messages.splice(queue.messages.indexOf(message), 1);
        }
        if (queue.isFifo === true) this.#world.at(clock(), () => this.#deliver(url));
      },
      () => undefined,
    );
  }
}
