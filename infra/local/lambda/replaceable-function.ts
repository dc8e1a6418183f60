import type { FunctionDefinition } from "./instance.ts";
import { createLambdaFunction, type LambdaFunction } from "./lambda-function.ts";

type Invoked = ReturnType<LambdaFunction["invoke"]>;

/** A function whose code can be replaced while it runs. Events that it is handling finish with the code they have. */
export class ReplaceableFunction implements LambdaFunction {
  readonly name: string;
  readonly #definition: FunctionDefinition;
  readonly #log: readonly number[];
  /** Every version that still handles events, with those events. */
  readonly #versions = new Map<LambdaFunction, Set<Invoked>>();
  #current: LambdaFunction;

  /** @param log as of `createLambdaFunction` */
  constructor(definition: FunctionDefinition, log: readonly number[]) {
    this.name = definition.name;
    this.#definition = definition;
    this.#log = log;
    this.#current = this.#add(definition);
  }

  async invoke(payload: string, requestId?: string): Invoked {
    const version = this.#current;
    const events = this.#versions.get(version);
    const event = version.invoke(payload, requestId);
    events?.add(event);
    try {
      return await event;
    } finally {
      events?.delete(event);
      if (version !== this.#current) await this.#stopIfIdle(version);
    }
  }

  /** @param directory holds the code, and nothing else that the function reads */
  async replaceCode(directory: string): Promise<void> {
    const replaced = this.#current;
    const { compileCache: _, environment, directory: root, ...definition } = this.#definition;
    this.#current = this.#add({
      ...definition,
      directory,
      environment: { ...environment, LAMBDA_TASK_ROOT: root },
    });
    await this.#stopIfIdle(replaced);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#versions.keys()].map((version) => version.stop()));
  }

  #add(definition: FunctionDefinition): LambdaFunction {
    const version = createLambdaFunction(definition, this.#log);
    this.#versions.set(version, new Set());
    return version;
  }

  async #stopIfIdle(version: LambdaFunction): Promise<void> {
    if (this.#versions.get(version)?.size !== 0) return;
    this.#versions.delete(version);
    await version.stop();
  }
}
