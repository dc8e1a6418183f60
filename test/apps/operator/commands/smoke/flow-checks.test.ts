import { expect, test } from "vitest";
import type { Run } from "../../../../../apps/operator/commands/smoke/check.ts";
import { flowChecks } from "../../../../../apps/operator/commands/smoke/flow-checks.ts";

test.each([
  ["functions can't reach this machine", { url: "http://localhost:4566", receiver: false }],
  ["the service runs elsewhere and no receiver is named", { url: "https://us.example.com", receiver: undefined }],
] as const)("webhooks are skipped if %s", async (_, run) => {
  const check = flowChecks.find(({ name }) => name === "webhooks");
  expect(await check?.run(run as Run)).toMatch(/^skipped: /);
});
