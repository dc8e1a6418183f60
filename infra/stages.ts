import type { StageSettings } from "./settings/stage-settings.ts";

/**
 * The settings of each stage; `npm run deploy -- us --stage prod` selects one. The settings are those of
 * `settings/stage-settings.ts`. A region's own settings override those of its stage:
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
  dev: {},
  prod: {
    firewall: true,
    logDays: 90,
    // A flood of what needs no key must not take the stage's rate from customers.
    methodThrottle: { pages: { rate: 500, burst: 250 } },
    terminationProtection: true,
  },
};
