import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyCheckout } from "./support/checkout-copy.ts";
import { applyRecipes } from "./support/recipes.ts";

it("finds a place for every code block of CONTRIBUTING.md's recipes", () => {
  const copy = copyCheckout();
  try {
    applyRecipes(copy);
    expect(readFileSync(join(copy, "functions/routes/work-items.ts"), "utf8")).toContain("/v1/work_items/{id}/agent");
  } finally {
    rmSync(copy, { recursive: true });
  }
});
