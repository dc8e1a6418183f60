import type { Context } from "aws-lambda";
import { create as createRecordConversation } from "../../../functions/record-conversation-upload.ts";
import { create as createRecordQaScore } from "../../../functions/record-qa-score.ts";
import { routes } from "../../../functions/routes.ts";
import type { ApiHandler } from "../../../lib/http/middleware.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { createHandler, type RouteName } from "../../support/handlers.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { asDocumented } from "../../support/openapi/documented.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../../support/organization.ts";
import { NO_RESPONSE, type RunHooks, type World } from "./world.ts";

/** Lambda, and the gateway, end a call after this time. */
const CALL_MS = 29_000;

/** A response with its body as a caller reads it. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: { readonly data?: unknown; readonly meta?: unknown; readonly error?: string };
}

/** An organization and its key, which are others once it was erased and made again. */
export interface Customer {
  organization: Organization;
  key: string;
  /** Until when its calls fail because of what was done to its records, in milliseconds since the epoch. */
  troubledUntil: number;
  isErasing: boolean;
  /** How often it was erased. */
  erased: number;
}

/** How a call is made. */
export interface CallOptions extends RunHooks {
  readonly isCalm?: boolean;
  /** How far the clock of its function may be off. @default an hour */
  readonly clockMaxMs?: number;
  /** Called first, with the clock of the function. */
  readonly onBegin?: (clock: () => number) => void;
}

/** The endpoints and internal functions of a world. Lambda sends an instance one call at a time. */
export class Service {
  readonly #world: World;
  readonly #idle = new Map<RouteName, ApiHandler[]>();

  constructor(world: World) {
    this.#world = world;
  }

  async createCustomer(id?: string): Promise<Customer> {
    const { base } = this.#world;
    const { organization, key } = await this.#world.outside(() => createTestOrganization(base, { ...(id && { id }) }));
    return { organization, key, troubledUntil: 0, isErasing: false, erased: 0 };
  }

  /** Calls an endpoint. @returns nothing if its function was killed or frozen */
  async call(
    { key }: Pick<Customer, "key">,
    name: RouteName,
    request: ApiRequest,
    { onBegin, ...options }: CallOptions = {},
  ): Promise<Response | typeof NO_RESPONSE> {
    const {
      method,
      path: resource,
      contentType,
    } = routes[name] as (typeof routes)[RouteName] & { contentType?: string };
    const event = apiEvent({ method, resource, key, ...request });
    const idle = this.#idle.get(name) ?? [];
    this.#idle.set(name, idle);
    const instance = idle.pop();
    const result = await this.#world.call(CALL_MS, options, async (clock) => {
      onBegin?.(clock);
      // The clock stands still while a module is loaded.
      const handler = instance ?? (await this.#world.outside(() => createHandler(this.#world.runtime, name)));
      const responded = asDocumented(event, await handler(event, lambdaContext(CALL_MS, clock)));
      idle.push(handler);
      return responded;
    });
    if (result === NO_RESPONSE) return result;
    const { statusCode: status, headers = {}, body: text } = result;
    const body = text === "" || contentType !== undefined ? {} : (JSON.parse(text) as Response["body"]);
    return { status, headers: headers as Response["headers"], text, body };
  }

  /** Records an evaluation result. @returns 404 if there is no such item; 503 if it failed */
  recordQaScore(
    { organization }: Customer,
    externalId: string,
    score: number | null,
    options: CallOptions,
  ): Promise<number | typeof NO_RESPONSE> {
    const payload = { organization: organization.id, external_id: externalId, qa_score: score };
    return this.#internal(options, (context) => createRecordQaScore(this.#world.runtime)(payload, context));
  }
  recordConversation(
    { organization }: Customer,
    input: Readonly<Record<"external_id" | "status" | "source", string>>,
    options: CallOptions,
  ): Promise<number | typeof NO_RESPONSE> {
    const payload = { organization: organization.id, ...input };
    return this.#internal(options, (context) => createRecordConversation(this.#world.runtime)(payload, context));
  }
  #internal(
    { onBegin, ...options }: CallOptions,
    work: (context: Context) => Promise<unknown>,
  ): Promise<number | typeof NO_RESPONSE> {
    return this.#world.call(CALL_MS, options, async (clock) => {
      onBegin?.(clock);
      return work(lambdaContext(CALL_MS, clock)).then(
        () => 200,
        (error: unknown) => ((error as Error).name === "NotFoundError" ? 404 : 503),
      );
    });
  }
}
