import type { ComponentChildren } from "preact";
import type { Answered } from "../file/answers.ts";
import type { Match } from "../file/use-import.ts";

/** What a form of the match step gets. */
export interface FormProps {
  readonly match: Match;
  /** Leads to the next question, with an answer if there is one. */
  readonly onNext: (answered?: Answered) => void;
}

/** A part of the match step: a line, and the form that opens in its place. */
export interface MatchLine {
  readonly name: string;
  /** What the import does with it. */
  readonly text: string;
  /** Whether a person must answer it before the file is sent. */
  readonly isAsked?: boolean;
  /** What is shown below the line, also while its form is open. */
  readonly note?: ComponentChildren;
  readonly form: (props: FormProps) => ComponentChildren;
}
