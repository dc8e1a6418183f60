import { beforeEach } from "vitest";
import { takeCause } from "./test-logger.ts";

// A failed test also shows why its last response with status 500 had it: the body doesn't say.
beforeEach(({ onTestFailed }) => {
  takeCause();
  onTestFailed(() => {
    const cause = takeCause();
    if (cause !== undefined) throw cause;
  });
});
