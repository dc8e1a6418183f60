import { CommandError } from "../command-line.ts";

/** Says in one line why the local stack cannot start or continue. */
export class LocalStackError extends CommandError {
  override readonly name = "LocalStackError";
}
