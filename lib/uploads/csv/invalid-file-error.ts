import { InvalidInputError, type Problem } from "../../errors.ts";

/** The file cannot be read. None of its rows is applied. */
export class InvalidFileError extends InvalidInputError {
  override readonly name: string = "InvalidFileError";

  /** @param problems by default the message, as a problem of the file */
  constructor(message: string, problems?: readonly Problem[]) {
    super(problems ?? [{ path: ["upload[file]"], code: "unreadable_file", message }], message);
  }
}
