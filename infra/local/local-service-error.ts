import { CommandError } from "../command-line.ts";

/** Says in one line why the local service cannot start or continue. */
export class LocalServiceError extends CommandError {
  override readonly name = "LocalServiceError";
}
