import { expect, it } from "vitest";
import { StoreBusyError } from "../../lib/errors.ts";
import { retry } from "../../lib/retry.ts";

const message = "too many tries";

it("tries until there is a result", async () => {
  let tries = 0;
  expect(await retry({ message }, async () => (++tries === 3 ? "third" : undefined))).toBe("third");
  expect(tries).toBe(3);
});

it("ends after the last attempt", async () => {
  let tries = 0;
  const never = async (): Promise<undefined> => {
    tries++;
  };
  await expect(retry({ attempts: 3, message }, never)).rejects.toThrow(new StoreBusyError(message));
  expect(tries).toBe(3);
});

it("makes no attempt once the time is over, not even a first one", async () => {
  let tries = 0;
  const until = async (most: number) => {
    await retry({ isOver: () => tries >= most, message }, async () => {
      tries++;
      return undefined;
    });
  };
  await expect(until(2)).rejects.toThrow(StoreBusyError);
  expect(tries).toBe(2);
  await expect(until(2)).rejects.toThrow(StoreBusyError);
  expect(tries).toBe(2);
});

it("ends at once if an attempt throws", async () => {
  let tries = 0;
  const failing = async (): Promise<undefined> => {
    tries++;
    throw new Error("other");
  };
  await expect(retry({ message }, failing)).rejects.toThrow("other");
  expect(tries).toBe(1);
});
