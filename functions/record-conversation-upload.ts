import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import {
  conversationUploadInputSchema,
  createConversationUploadStore,
} from "../lib/conversation-uploads/conversation-upload-store.ts";
import { parsePayload } from "../lib/direct-call.ts";
import { NotFoundError } from "../lib/errors.ts";
import { createAccessStore } from "../lib/organizations/access-store.ts";
import { organizationIdSchema } from "../lib/organizations/organization.ts";
import { workers } from "./workers.ts";

const worker = workers.recordConversationUpload;

export const payloadSchema = conversationUploadInputSchema.extend({ organization: organizationIdSchema });

export const create = (runtime: Runtime<typeof worker.touches>) => {
  const store = createConversationUploadStore(runtime);
  const access = createAccessStore(runtime);
  /** @throws InvalidInputError, NotFoundError (no such organization), StoreBusyError: the caller's invocation fails with them */
  return async (payload: unknown) => {
    const { organization: id, ...input } = parsePayload(payloadSchema, payload);
    const organization = await access.findOrganization(id);
    if (organization === undefined) throw new NotFoundError(`organization ${id} not found`);
    return store.record(organization, input);
  };
};

export const handler = lambda(worker.touches, create);
