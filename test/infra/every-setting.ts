import type { StageSettings } from "../../infra/settings/stage-settings.ts";

/** Every setting that adds to a stack, so that a new one cannot be forgotten; `smallAccount` rules out `concurrency`. */
export const EVERY_SETTING = {
  account: "111122223333",
  alarmEmail: "on-call@example.com",
  allowedOrigins: ["https://a.example.com", "https://b.example.com"],
  concurrency: { reads: 100, writes: 50, uploads: 10, pages: 5, workers: 20 },
  customerKey: true,
  firewall: true,
  firewallRate: 500,
  logDays: 90,
  terminationProtection: true,
  ticketEmail: "tickets@example.com",
  throttle: { reads: 8000, writes: 4000, uploads: 1001, pages: 700 },
  regions: {
    us: {
      alarmTopic: "arn:aws:sns:us-east-1:111122223333:alarms",
      backup: { vault: "arn:aws:backup:us-west-2:111122223333:backup-vault:copies", days: 35 },
      domain: { host: "us.example.com", certificate: "arn:aws:acm:us-east-1:1:certificate/a", zone: "Z1" },
    },
    eu: {},
  },
} as const satisfies StageSettings &
  Record<Exclude<keyof StageSettings, "alarms" | "gatewayLogRole" | "regions" | "smallAccount">, unknown>;
