import { expect, test } from "vitest";
import { EVERY_SETTING } from "./every-setting.ts";
import { plain, resourceOf, resourcesOf, synthesize } from "./synthesized.ts";

test("a trail records the writes to what must not be changed in secret, and no reads", () => {
  const trail = JSON.stringify(
    plain(resourceOf(synthesize({ ...EVERY_SETTING, alarms: "none" }).us, "AWS::CloudTrail::Trail")),
  );
  for (const table of ["Access", "Audit", "WorkItems"]) expect(trail).toContain(`Tables${table}`);
  expect(trail).not.toMatch(/TablesLimits|TablesChanges/);
  expect(trail).toContain('{"Equals":["false"],"Field":"readOnly"}');
  expect(resourcesOf(synthesize().us, "AWS::CloudTrail::Trail")).toEqual([]);
});
