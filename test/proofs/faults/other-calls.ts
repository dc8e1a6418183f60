import { isDeepStrictEqual } from "node:util";
import { isoTime } from "../../../lib/clock.ts";
import { conversationUploadId } from "../../../lib/identity.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { ReferenceOrganization } from "../model/reference-organization.ts";
import type { Caller, ProofService } from "../proof-service.ts";
import { type FaultyCalls, NO_RESPONSE } from "./faulty-calls.ts";
import type { FindingKind } from "./findings.ts";

/** From this attempt on a call has no faults. */
const CALM_AFTER_ATTEMPTS = 6;
const CALLS = 10;

/** Records conversation uploads and reads them, and reads the jobs of uploads and the health of the service. */
export const runOtherCalls = async (
  service: ProofService,
  caller: Caller,
  faulty: FaultyCalls,
  random: () => number,
  report: (kind: FindingKind, details: unknown) => void,
): Promise<void> => {
  const model = new ReferenceOrganization(caller.organization.id);

  /** @returns the body; undefined if the call was refused or interrupted */
  const read = async (route: RouteName, request: ApiRequest, expected: unknown): Promise<void> => {
    for (let attempt = 1; attempt <= 2 * CALM_AFTER_ATTEMPTS; attempt++) {
      service.clock.advance(1000);
      const mayFail = attempt < CALM_AFTER_ATTEMPTS;
      const response = await faulty.call(() => service.call(route, caller, request), { mayFail });
      if (response === NO_RESPONSE || response.status === 503) continue;
      const { data } = response.body as { readonly data?: unknown };
      if (response.status !== 200 || !isDeepStrictEqual(data, expected)) report("wrong label", { response, expected });
      return;
    }
    report("lost", { "never answered": route });
  };
  const record = async (externalId: string, status: string): Promise<void> => {
    const input = { external_id: externalId, status, source: "phone" };
    const now = isoTime(service.clock());
    for (let attempt = 1; attempt <= 2 * CALM_AFTER_ATTEMPTS; attempt++) {
      const mayFail = attempt < CALM_AFTER_ATTEMPTS;
      const done = await faulty
        .call(() => service.recordConversation(caller, input), { mayFail })
        .catch(() => NO_RESPONSE);
      if (done === NO_RESPONSE) continue;
      model.recordConversation(externalId, status, "phone", now);
      return;
    }
    report("lost", { "never recorded": externalId });
  };

  for (let count = 0; count < CALLS; count++) {
    const externalId = `conversation ${Math.floor(random() * 3)}`;
    service.clock.advance(1000);
    await record(externalId, random() < 0.5 ? "pending" : "completed");
    await faulty.thaw();
    await read("listConversationUploads", { query: { limit: 100 } }, model.listConversations(undefined));
    const id = conversationUploadId(model.id, externalId);
    const { body } = model.conversation(id);
    await read("getConversationUpload", { params: { id } }, (body as { readonly data: unknown }).data);
  }
  await read("listWorkItemUploads", { query: { limit: 100 } }, []);
  await read("getHealth", {}, undefined);
};
