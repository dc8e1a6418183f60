import { Logger } from "@aws-lambda-powertools/logger";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Clock } from "../clock.ts";
import type { ResourceName, ResourceNameOf, Resources } from "../resources.ts";
import { type Environment, parseEnvironment } from "./environment.ts";
import type { Permissions } from "./permissions.ts";

interface Clients {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
}
/** Name of the client for each kind of resource. */
type ClientNameOf<N extends ResourceName> =
  | (N extends ResourceNameOf<"table"> ? "dynamodb" : never)
  | (N extends ResourceNameOf<"bucket"> ? "s3" : never)
  | (N extends ResourceNameOf<"queue"> ? "sqs" : never);
type ClientsFor<N extends ResourceName> = Pick<Clients, ClientNameOf<N>>;

interface BaseRuntime {
  readonly clock: Clock;
  readonly log: Logger;
}

/** All dependencies of a function. Each function instance makes one; tests make their own. */
export type Runtime<P extends Permissions = Permissions> = BaseRuntime &
  ClientsFor<keyof P & ResourceName> & { readonly environment: Environment<P> };

/** What a store requires of a runtime: clock, log, and the names of and clients for these resources. */
export type RuntimeWith<N extends ResourceName> = BaseRuntime &
  ClientsFor<N> & { readonly environment: Readonly<Record<Resources[N]["variable"], string>> };

/** Make the clients for a function's permissions, so that its bundle contains no other client. */
export type ClientFactories<P extends Permissions> = {
  readonly [C in ClientNameOf<keyof P & ResourceName>]: (environment: Environment<object>) => Clients[C];
};

/** Makes a function's runtime. @throws Error naming every missing variable */
function createRuntime<const P extends Permissions>(permissions: P, factories: ClientFactories<P>): Runtime<P> {
  const environment = parseEnvironment(permissions, process.env);
  const clients = Object.entries<(environment: Environment<object>) => unknown>(factories).map(
    ([name, create]) => [name, create(environment)] as const,
  );
  return { environment, clock: Date.now, log: new Logger(), ...Object.fromEntries(clients) } as Runtime<P>;
}

/**
 * Makes a function: its exported handler, and `create` for another runtime. In Lambda the runtime is made at import, while
 * start-up CPU is free; elsewhere at the first call, so that importing a function needs no environment.
 */
export function lambda<const P extends Permissions, H extends (event: never, context: never) => Promise<unknown>>(
  permissions: P,
  factories: ClientFactories<P>,
  create: (runtime: Runtime<P>) => H,
) {
  const start = () => create(createRuntime(permissions, factories));
  let instance = process.env["AWS_LAMBDA_FUNCTION_NAME"] === undefined ? undefined : start();
  const handler = (event: never, context: never) => (instance ??= start())(event, context);
  return { create, handler: handler as H };
}
