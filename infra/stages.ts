import type { StageSettings } from "./settings/stage-settings.ts";

/**
 * The settings of each stage; `npm run deploy -- us --stage prod` selects one. `settings/stage-settings.ts` has them all. A
 * region's own settings override those of its stage:
 *
 *     alarmEmail: "on-call@example.com",
 *     regions: {
 *       us: { domain: { host: "us.api.example.com", certificate: "arn:aws:acm:us-east-1:…", zone: "Z…" } },
 *       eu: { allowedOrigins: ["https://app.example.eu"] },
 *     },
 *
 * Without `regions`, a stage is deployed in all regions. Changes are reviewed like code: removing a setting removes the
 * resources that it created.
 */
export const stages: Readonly<Record<string, StageSettings>> = {
  // What prod has, with other numbers.
  dev: { throttle: { reads: 500, writes: 250, uploads: 100, pages: 100 } },
  prod: {
    // A first deployment only counts what it would block. With true, it blocks: docs/first-day.md says when.
    firewall: "count",
    logDays: 90,
    terminationProtection: true,
  },
};
