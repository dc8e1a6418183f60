import { NotFoundError, StateConflictError, StoreBusyError } from "../errors.ts";
import { type CallEndpointRuntime, createCallEndpoint } from "./call-endpoint.ts";
import { createCallReceiver } from "./call-receiver.ts";
import { BEING_CALLED, type Outcome, testStep } from "./endpoint-state.ts";
import { NO_WEBHOOK, type WebhookKey } from "./webhook-store.ts";

/** With its reads and writes, a test takes less than 10 seconds. */
export const TEST_CALL_MS = 8000;

/**
 * Makes the function that sends a test message to an endpoint, even if its webhook is paused.
 * @param callReceiver calls a URL
 */
export function createSendTest(
  runtime: CallEndpointRuntime,
  callReceiver = createCallReceiver(runtime, undefined, TEST_CALL_MS),
) {
  const callEndpoint = createCallEndpoint(runtime, callReceiver);
  /**
   * @throws NotFoundError; StateConflictError while another message is being sent to the endpoint
   */
  return async (webhook: WebhookKey, messageId: string): Promise<Outcome> => {
    const called = await callEndpoint(webhook, (state, now) => testStep(state, messageId, now));
    if (called.kind === "called") return called.outcome;
    if (called.kind === "rest") throw new NotFoundError(NO_WEBHOOK);
    if (called.kind === "not called") throw new StoreBusyError("the test could not be sent; try again", 25);
    throw new StateConflictError(BEING_CALLED);
  };
}
