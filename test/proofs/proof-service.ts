import { create as createRecordConversation } from "../../functions/record-conversation-upload.ts";
import { create as createRecordQaScore } from "../../functions/record-qa-score.ts";
import { routes } from "../../functions/routes.ts";
import { NotFoundError } from "../../lib/errors.ts";
import type { Route } from "../../lib/http/route.ts";
import { queueWorker } from "../../lib/aws/queue-worker.ts";
import { createSendAgain } from "../../lib/aws/send-messages.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import type { RowListName } from "../../lib/uploads/files/row-list.ts";
import type { JobKey } from "../../lib/uploads/job/upload-record.ts";
import { createTestClock } from "../support/clock.ts";
import { createHandlers, type RouteName } from "../support/handlers.ts";
import { asDocumented } from "../support/openapi/documented.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createFaultyRuntime, type FaultyRun } from "../support/uploads/fault-injection.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createWorkers, type WindowSizes } from "../support/uploads/upload-workers.ts";

/** A response with its body as a caller reads it. */
export interface ProofResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An organization and its key. */
export type Caller = Awaited<ReturnType<typeof createTestOrganization>>;

/** Time of a worker's run, in milliseconds: it hands over 30 s before its end. */
const WORKER_MS = 90_000;

/** The whole service in this process: endpoints, workers and internal functions, with a clock that the proof controls. */
export const createProofService = async () => {
  const clock = createTestClock();
  const base = await createTestRuntime({ clock });
  const { runtime, during } = createFaultyRuntime(base);

  const startFunctions = async () => {
    const workers = createWorkers(runtime);
    return {
      handlers: await createHandlers(runtime),
      workers,
      recordQaScore: createRecordQaScore(runtime),
      recordConversation: createRecordConversation(runtime),
    };
  };
  let functions = await startFunctions();
  const sendAgain = createSendAgain(runtime.sqs, runtime.environment.CHUNKS_QUEUE_URL);

  /** Without faults; it only sees the messages. */
  const listening = (onMessages: FaultyRun["onMessages"]): FaultyRun => ({
    clock,
    faultOf: () => "none",
    statementFault: () => "none",
    stop: () => Promise.resolve(),
    onMessages,
  });

  return {
    clock,
    runtime,
    during,
    /** Replaces all functions by new instances, which have nothing in memory. */
    restart: async (): Promise<void> => {
      functions = await startFunctions();
    },
    createOrganization: (): Promise<Caller> => createTestOrganization(base),
    call: async (name: RouteName, { key }: Caller, request: ApiRequest = {}): Promise<ProofResponse> => {
      const route: Route = routes[name];
      const event = apiEvent({ method: route.method, resource: route.path, key, ...request });
      const result = asDocumented(event, await functions.handlers[name](event, lambdaContext(29_000, clock)));
      const { statusCode, headers = {}, body } = result;
      return {
        status: statusCode,
        headers: headers as Record<string, string>,
        body: body === "" || route.contentType !== undefined ? undefined : (JSON.parse(body) as unknown),
      };
    },
    /** Runs the workers of a job until all its messages are handled. */
    process: async (job: JobKey): Promise<void> => {
      const queue = [JSON.stringify(splitMessage(job))];
      const run = listening((bodies) => queue.push(...bodies));
      for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
        const message = body;
        await during(run, () => functions.workers.handle(message, clock() + WORKER_MS));
      }
    },
    /**
     * Delivers a message of a queue.
     * @param sizes where this delivery cuts windows
     * @returns whether it was handled
     */
    deliver: async (body: string, sizes?: WindowSizes): Promise<boolean> => {
      const { handle } = sizes ? createWorkers(runtime, sizes) : functions.workers;
      const worker = queueWorker(runtime, handle, sendAgain);
      const { batchItemFailures } = await worker(sqsEvent(body), lambdaContext(WORKER_MS, clock));
      return batchItemFailures.length === 0;
    },
    /** Writes the file of a job to the bucket, as S3 does with a posted form. */
    postFile: (job: JobKey, text: string): Promise<void> =>
      functions.workers.objects.write(objectKeys.source(job), Buffer.from(text), "text/csv"),
    /** How often a job's file, or one of its buckets, was claimed in a row without progress, or its messages lost, at most. */
    lossesOf: async (job: JobKey): Promise<number> => {
      const snapshot = await functions.workers.store.read(job);
      if (snapshot === undefined) return 0;
      const { job: found, buckets } = snapshot;
      const ofFile = found.chunks === undefined ? [found.split_attempts, found.resent] : [];
      return Math.max(0, ...ofFile, ...buckets.flatMap(({ attempts, resent }) => [attempts, resent]));
    },
    /** Checks all open jobs that are due. */
    sweep: async (): Promise<void> => {
      await functions.workers.sweep(clock() + WORKER_MS);
    },
    /** The text of a list of an ended job; undefined if there is none. */
    readList: async (job: JobKey, name: RowListName): Promise<string | undefined> => {
      const { merged = "" } = (await functions.workers.store.readJob(job)) ?? {};
      const key = objectKeys.list(job, name, merged);
      const source = await functions.workers.objects.head(key);
      return source ? (await functions.workers.objects.readWhole(key)).toString() : undefined;
    },
    /** @returns false if there is no such item */
    recordQaScore: async ({ organization }: Caller, externalId: string, score: number | null): Promise<boolean> => {
      try {
        await functions.recordQaScore({ organization: organization.id, external_id: externalId, qa_score: score });
        return true;
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
    },
    recordConversation: (
      { organization }: Caller,
      input: Readonly<Record<"external_id" | "status" | "source", string>>,
    ) => functions.recordConversation({ organization: organization.id, ...input }),
  };
};
/** The whole service in this process. */
export type ProofService = Awaited<ReturnType<typeof createProofService>>;
