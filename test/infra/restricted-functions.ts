import type { Context } from "aws-lambda";
import { allRoutes } from "../../functions/routes.ts";
import { allWorkers } from "../../functions/workers.ts";
import { type RequestedPermission, restrictedRuntime } from "./restricted-runtime.ts";
import type { TestRuntime } from "../support/runtime.ts";

type Handler = (event: unknown, context: Context) => Promise<unknown>;

const rows = () => [...allRoutes(), ...allWorkers];

/**
 * The permissions that show in a function's requests. Functions do not call `ListBucket`: S3 requires it before it
 * responds that an object does not exist. A URL that a function signs counts as its request.
 */
export const granted = (name: string): readonly string[] => {
  const row = rows().find((each) => each.name === name);
  const permissions = Object.entries<{ readonly actions: readonly string[] }>({ ...row?.permissions });
  return permissions.flatMap(([resource, { actions }]) =>
    actions.filter((action) => action !== "ListBucket").map((action) => `${resource} ${action}`),
  );
};

/** All functions, each restricted to the permissions of its row. @param onCall called before each request to AWS */
export async function createRestrictedFunctions(runtime: TestRuntime, onCall: (action: string) => void) {
  const functions = new Map<string, Handler>();
  /** The permissions that each function has needed. */
  const used = new Map<string, Set<string>>();
  const refused: unknown[] = [];
  for (const { name, permissions } of rows()) {
    const calls = new Set<string>();
    used.set(name, calls);
    const onCheck = (requested: RequestedPermission, allowed: boolean): void => {
      onCall(requested.action);
      calls.add(`${requested.resource} ${requested.action}`);
      if (!allowed) refused.push([name, requested]);
    };
    const module = (await import(`../../functions/${name}.ts`)) as { create: (runtime: TestRuntime) => Handler };
    functions.set(name, module.create(restrictedRuntime(runtime, permissions, onCheck)));
  }
  return { functions, used, refused };
}
