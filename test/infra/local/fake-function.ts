import { type LambdaFunction, PayloadTooLargeError } from "../../../infra/local/lambda/lambda-function.ts";

/** A function without its own thread; `lambda-function.test.ts` tests those. */
export const fakeFunction = (name: string, handler: (event: never) => unknown): LambdaFunction => ({
  name,
  invoke: async (payload) => {
    try {
      return { ok: true, payload: JSON.stringify((await handler(JSON.parse(payload) as never)) ?? null) };
    } catch (error) {
      if (error instanceof PayloadTooLargeError) throw error;
      return { ok: false, error: { errorType: "Error", errorMessage: String(error) } };
    }
  },
  stop: async () => {},
});
