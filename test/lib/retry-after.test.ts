import { afterEach, expect, it, vi } from "vitest";
import { retryAfterMs } from "../../lib/retry-after.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const NOW = Date.parse("1994-11-06T08:49:31Z");

it.each<[string | null | undefined, number | undefined]>([
  ["6", 6000],
  [" 6 ", 6000],
  ["0", 0],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 6000],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 6000],
  ["Sun Nov  6 08:49:37 1994", 6000],
  ["Sun, 06 Nov 1994 08:49:30 GMT", 0],
  ...[undefined, null, "", "-6", "1.5", "6 s", "1e9", "soon 1999", "1999-01-01T00:00:00Z", "9".repeat(400)].map(
    (none) => [none, undefined] as [typeof none, undefined],
  ),
  ["Sun, 06 Foo 1994 08:49:37 GMT", undefined],
])("reads Retry-After: %s as %s milliseconds", (header, milliseconds) => {
  vi.stubEnv("TZ", "America/New_York");
  expect(new Date(NOW).getTimezoneOffset()).toBe(300);
  expect(retryAfterMs(header, NOW)).toBe(milliseconds);
});
