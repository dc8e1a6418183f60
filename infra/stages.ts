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
 * A region that is left out is not deployed. Changes are reviewed like code: a setting that is taken out takes with it
 * what it has made.
 */
export const stages: Readonly<Record<string, StageSettings>> = {
  dev: { regions: { us: {}, eu: {} } },
  prod: { logDays: 90, terminationProtection: true, regions: { us: {}, eu: {} } },
};
