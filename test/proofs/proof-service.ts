import { create as createRecordConversation } from "../../functions/record-conversation-upload.ts";
import { create as createRecordQaScore } from "../../functions/record-qa-score.ts";
import { routes } from "../../functions/routes.ts";
import { NotFoundError } from "../../lib/errors.ts";
import type { Route } from "../../lib/http/route.ts";
import type { JobKey } from "../../lib/uploads/job/upload-record.ts";
import { createTestClock } from "../support/clock.ts";
import { createHandlers, type RouteName } from "../support/handlers.ts";
import { apiEvent, type ApiRequest, createTestOrganization, lambdaContext } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { type FaultyRun, injectFaults } from "../support/uploads/fault-injection.ts";
import { splitMessage } from "../support/uploads/upload-harness.ts";
import { createWorkers } from "../support/uploads/upload-workers.ts";

/** A response with its body as a caller reads it. */
export interface ProofResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An organization and its key. */
export type Caller = Awaited<ReturnType<typeof createTestOrganization>>;

/** The whole service in this process: endpoints, workers and internal functions, with a clock that the proof controls. */
export const createProofService = async () => {
  const clock = createTestClock();
  const base = await createTestRuntime({ clock });
  const { runtime, during } = injectFaults(base);
  const handlers = await createHandlers(runtime);
  const workers = createWorkers(runtime);
  const recordQaScore = createRecordQaScore(runtime);
  const recordConversation = createRecordConversation(runtime);

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
    handlers,
    workers,
    createOrganization: (): Promise<Caller> => createTestOrganization(base),
    call: async (name: RouteName, { key }: Caller, request: ApiRequest = {}): Promise<ProofResponse> => {
      const route: Route = routes[name];
      const event = apiEvent({ method: route.method, resource: route.path, key, ...request });
      const { statusCode, headers = {}, body } = await handlers[name](event, lambdaContext());
      return {
        status: statusCode,
        headers: headers as Record<string, string>,
        body: body === "" ? undefined : (JSON.parse(body) as unknown),
      };
    },
    /** Runs the workers of a job until all its messages are handled. */
    process: async (job: JobKey): Promise<void> => {
      const queue = [JSON.stringify(splitMessage(job))];
      const run = listening((bodies) => queue.push(...bodies));
      for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
        const message = body;
        await during(run, () => workers.handle(message, clock() + 60_000));
      }
    },
    /** @returns false if there is no such item */
    recordQaScore: async ({ organization }: Caller, externalId: string, score: number | null): Promise<boolean> => {
      try {
        await recordQaScore({ organization: organization.id, external_id: externalId, qa_score: score });
        return true;
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
    },
    recordConversation: (
      { organization }: Caller,
      input: Readonly<Record<"external_id" | "status" | "source", string>>,
    ) => recordConversation({ organization: organization.id, ...input }),
  };
};
/** The whole service in this process. */
export type ProofService = Awaited<ReturnType<typeof createProofService>>;
