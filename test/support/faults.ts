import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import { damage, type DamagedResponse, isDamagedResponse, type WireResponse } from "./damaged-responses.ts";

/**
 * A fault of one attempt of a request: an error or no response before it is sent, a response that is lost after it was
 * carried out, or a response that is not what the service's protocol says.
 */
export type Fault = "none" | "throttled" | "unreachable" | "lost response" | DamagedResponse;

/** A client whose requests can have faults. */
type FaultyClient = DynamoDBDocumentClient | S3Client | SQSClient;
/** The parts of an HTTP request that faults depend on. */
interface WireRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

const errorOf = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

/**
 * Injects faults into a client's requests.
 * @param decide called for every attempt of a request, including the SDK's retries
 * @returns a function that removes the faults
 */
export const injectFaults = (
  client: FaultyClient,
  decide: (command: string, input: Readonly<Record<string, unknown>>) => Fault | Promise<Fault>,
): (() => void) => {
  const name = "injectFaults";
  const damaged = "damageResponses";
  const stack = client.middlewareStack as S3Client["middlewareStack"];
  const damages = new WeakMap<object, DamagedResponse>();
  stack.add(
    (next, context) => async (request) => {
      const fault = await decide(String(context.commandName), request.input as never);
      if (fault === "throttled") throw errorOf("ThrottlingException");
      if (fault === "unreachable") throw errorOf("TimeoutError");
      if (isDamagedResponse(fault)) damages.set(context, fault);
      const response = await next(request);
      if (fault === "lost response") throw errorOf("TimeoutError");
      return response;
    },
    // In the deserialize step, after the whole response was read: in a later step its body would stay open.
    { step: "deserialize", priority: "high", name },
  );
  stack.add(
    (next, context) => async (parameters) => {
      const kind = damages.get(context);
      damages.delete(context);
      if (kind === undefined) return next(parameters);
      const { method, headers } = parameters.request as WireRequest;
      const isXml = !("x-amz-target" in headers);
      const response = await damage(
        kind,
        { method, isXml },
        async () => (await next(parameters)).response as WireResponse,
      );
      return { response };
    },
    // Below the SDK's own code for responses, which reads what it is given here.
    { step: "deserialize", priority: "low", name: damaged },
  );
  return () => {
    stack.remove(name);
    stack.remove(damaged);
  };
};

/**
 * Lets requests take as long as they take, for `beforeEach`: on a busy machine the embedded engine may need longer than
 * the 100 ms that a request waits for its limit and for the note of its key's use.
 * @returns what ends it
 */
export const withoutTimeouts = (): (() => void) => {
  const spy = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  return () => spy.mockRestore();
};

/** Makes requests of a client fail as AWS would after the client's last attempt. @returns what ends it */
export const failRequests = (
  client: DynamoDBDocumentClient | S3Client,
  fail: (
    command: string,
    input: Readonly<Record<string, unknown>>,
  ) => { readonly name: string; readonly httpStatusCode: number } | undefined,
): (() => void) => {
  const stack = client.middlewareStack as S3Client["middlewareStack"];
  stack.add(
    (next, context) => (request) => {
      const failure = fail(String(context.commandName), request.input as never);
      if (failure === undefined) return next(request);
      const { name, httpStatusCode } = failure;
      throw Object.assign(new Error(`injected: ${name}`), { name, $metadata: { httpStatusCode, attempts: 1 } });
    },
    { step: "initialize", name: "failRequests" },
  );
  return () => {
    stack.remove("failRequests");
  };
};
