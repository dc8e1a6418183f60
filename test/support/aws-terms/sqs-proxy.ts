import type { Proxy } from "./engine-proxy.ts";
import type { Faults } from "./faults.ts";
import { type JsonBody, jsonError, type JsonRequest, type JsonResponse, startJsonProxy } from "./json-proxy.ts";
import { withServiceFaults } from "./service-faults.ts";

/** The longest time in seconds by which a message is late. */
const LATE_MAX_SECONDS = 3;

interface Message {
  readonly ReceiptHandle: string;
}
interface Entry extends JsonBody {
  readonly Id: string;
}

const THROTTLED = jsonError(400, "RequestThrottled", "The request was denied due to request throttling");

/**
 * Starts a proxy that serves an engine as SQS serves its standard queues: messages come late, in another order, and
 * some of them twice; a FIFO queue's come in order and once
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html).
 */
export function startSqsProxy(engineEndpoint: string, faults: Faults): Promise<Proxy> {
  const delayed = <M extends JsonBody>(message: M): M => {
    if (message["MessageDeduplicationId"] !== undefined || !faults.occurs("late")) return message;
    return { ...message, DelaySeconds: Number(message["DelaySeconds"] ?? 0) + 1 + faults.below(LATE_MAX_SECONDS) };
  };

  /** Entries fail alone: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
  const batch = async ({ forward, input }: JsonRequest, change: (entry: Entry) => Entry): Promise<JsonResponse> => {
    const entries = input["Entries"] as readonly Entry[];
    const failed = new Set(entries.filter(() => faults.occurs("entry failed")));
    const Entries = entries.filter((entry) => !failed.has(entry)).map(change);
    const response = Entries.length === 0 ? { status: 200, body: {} } : await forward({ ...input, Entries });
    if (response.status !== 200) return response;
    const more = [...failed].map(({ Id }) => ({ Id, SenderFault: false, Code: "InternalError" }));
    const Failed = [...((response.body["Failed"] ?? []) as readonly JsonBody[]), ...more];
    return { ...response, body: { Successful: [], ...response.body, ...(Failed.length > 0 && { Failed }) } };
  };

  const receive = async ({ forward, input }: JsonRequest): Promise<JsonResponse> => {
    const response = await forward();
    const messages = [...((response.body["Messages"] ?? []) as readonly Message[])];
    if (messages.length === 0 || String(input["QueueUrl"]).endsWith(".fifo")) return response;
    for (const { ReceiptHandle } of messages) {
      // It is visible again at once, while the first receiver works on it.
      if (!faults.occurs("duplicate")) continue;
      await forward({ QueueUrl: input["QueueUrl"], ReceiptHandle, VisibilityTimeout: 0 }, "ChangeMessageVisibility");
    }
    const Messages: Message[] = [];
    while (messages.length > 0) Messages.push(...messages.splice(faults.below(messages.length), 1));
    return { ...response, body: { ...response.body, Messages } };
  };

  const operations: Readonly<Record<string, (request: JsonRequest) => Promise<JsonResponse>>> = {
    SendMessage: ({ forward, input }) => forward(delayed(input)),
    SendMessageBatch: (request) => batch(request, delayed),
    DeleteMessage: ({ forward }) => forward(),
    DeleteMessageBatch: (request) => batch(request, (entry) => entry),
  };
  const serve = withServiceFaults(
    faults,
    () => THROTTLED,
    (request) => operations[request.operation]?.(request) ?? request.forward(),
  );
  return startJsonProxy(engineEndpoint, (request) => {
    // Lambda receives, not a function: what is lost on that way would wait for the queue's visibility timeout.
    if (request.operation === "ReceiveMessage") return receive(request);
    return Object.hasOwn(operations, request.operation) ? serve(request) : request.forward();
  });
}
