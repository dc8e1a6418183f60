import * as z from "zod";
import { NotFoundError } from "../lib/errors.ts";
import { workItemId } from "../lib/identity.ts";
import { createAccessStore } from "../lib/organizations/access-store.ts";
import { organizationIdSchema } from "../lib/organizations/organization.ts";
import { directCall } from "../lib/aws/direct-call.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { externalId } from "../lib/schema.ts";
import { createRecordQaScore } from "../lib/work-items/change-work-item.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** The payload of a direct invocation. `qa_score` is from 0 to 1; null removes the score. */
export const payloadSchema = z.strictObject({
  organization: organizationIdSchema,
  external_id: externalId,
  qa_score: z.number().min(0).max(1).nullable(),
});

/** Sets the evaluation result of the work item that the payload names. */
export const { create, handler } = worker(
  workers.recordQaScore.permissions,
  { dynamodb: createDynamoDbClient },
  (runtime) => {
    const recordQaScore = createRecordQaScore(runtime);
    const access = createAccessStore(runtime);
    /** @throws NotFoundError, even for an organization that is being erased; StoreBusyError */
    return directCall(runtime.clock, payloadSchema, async ({ organization, external_id, qa_score }, deadline) => {
      if ((await access.findOrganization(organization)) === undefined) {
        throw new NotFoundError(`organization ${organization} not found`);
      }
      const id = workItemId(organization, external_id);
      await recordQaScore(organization, id, qa_score, deadline);
      return { id, external_id, qa_score };
    });
  },
);
