import { createRequire } from "node:module";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import { lambdaContext } from "../support/lambda-context.ts";

/** This process loads one bundle and calls it once, as a new instance in Lambda does. */

/** Milliseconds of CPU: to load the bundle, and until it has answered its first call. */
export interface ColdStart {
  readonly imported: number;
  readonly answered: number;
}

const [bundle = "", event = ""] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const parsed = JSON.parse(event) as Parameters<ApiHandler>[0];
const context = lambdaContext();

const start = process.cpuUsage();
const since = (): number => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};
const { handler } = require(bundle) as { readonly handler: ApiHandler };
const imported = since();
const { statusCode, body } = await handler(parsed, context);
const answered = since();
if (statusCode !== 200) throw new Error(`the function responded with ${statusCode}: ${body}`);
console.log(JSON.stringify({ imported, answered } satisfies ColdStart));
process.exit();
