import { expect, it } from "vitest";
import { createKey } from "../../apps/operator/data/key-management.ts";
import { apiKeyId, hashApiKey } from "../../lib/organizations/api-key.ts";
import { administrationOf } from "../support/organization.ts";
import { createTestService } from "../support/service.ts";

it("shows whose key it is, what the key may do and the organization's limit", async () => {
  const { call, organization, key, runtime } = await createTestService();
  const { id, rate, burst } = organization;
  const limits = { rate, burst };
  const { body } = await call("getMe");
  expect(body.data).toEqual({
    organization: id,
    region: "us",
    key: { id: apiKeyId(hashApiKey(key)), name: "default", scopes: ["read", "write", "upload", "webhooks"] },
    limits,
  });

  const made = await createKey(administrationOf(runtime), id, { name: "nightly", scopes: ["upload"] });
  const other = await call("getMe", { key: made.key });
  expect(other.body.data).toEqual({
    organization: id,
    region: "us",
    key: { id: made.record.key_id, name: "nightly", scopes: ["upload"] },
    limits,
  });
});
