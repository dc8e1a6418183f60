import type { StageSettings } from "./settings/stage-settings.ts";

/**
 * What each stage is deployed with; `npm run deploy -- us -c stage=prod` picks one. The settings are those of
 * `settings/stage-settings.ts`. A region's own settings override those of its stage:
 *
 *     alarmEmail: "on-call@example.com",
 *     regions: {
 *       us: { domain: { host: "us.api.example.com", certificate: "arn:aws:acm:us-east-1:…", zone: "Z…" } },
 *       eu: { allowedOrigins: ["https://app.example.eu"] },
 *     },
 *
 * Without `regions` a stage is deployed in all of them; with it, only in those that it names. Changes are reviewed like code: a setting that is taken out takes with it
 * what it has made.
 */
export const stages: Readonly<Record<string, StageSettings>> = {
  dev: {},
  prod: { logDays: 90, rollout: "canary", terminationProtection: true },
};
