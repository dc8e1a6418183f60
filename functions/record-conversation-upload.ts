import {
  conversationUploadInputSchema,
  createConversationUploadStore,
} from "../lib/conversation-uploads/conversation-upload-store.ts";
import { NotFoundError } from "../lib/errors.ts";
import { createAccessStore } from "../lib/organizations/access-store.ts";
import { organizationIdSchema } from "../lib/organizations/organization.ts";
import { directCall } from "../lib/aws/direct-call.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** The payload of a direct invocation. */
export const payloadSchema = conversationUploadInputSchema.extend({ organization: organizationIdSchema });

/** Creates or updates the conversation upload that the payload describes. */
export const { create, handler } = worker(
  workers.recordConversationUpload.permissions,
  { dynamodb: createDynamoDbClient },
  (runtime) => {
    const store = createConversationUploadStore(runtime);
    const access = createAccessStore(runtime);
    /** @throws NotFoundError if the organization doesn't exist, StoreBusyError */
    return directCall(runtime.clock, payloadSchema, async ({ organization: id, ...input }, deadline) => {
      const organization = await access.findOrganization(id);
      if (organization === undefined) throw new NotFoundError(`organization ${id} not found`);
      return store.record(organization, input, deadline);
    });
  },
);
