import type { ComponentChildren } from "preact";

/** An answer, what it reads on its button, and examples of what it makes of the file. */
export interface Answer {
  readonly answer: string;
  readonly shown: string;
  readonly examples?: readonly string[];
}

/** A question that one click answers. It takes the focus when the one before it is answered. */
export function Asked({
  text,
  answers,
  onAnswer,
  children,
}: {
  readonly text: string;
  readonly answers: readonly Answer[];
  readonly onAnswer: (answer: string) => void;
  /** What to know before answering. */
  readonly children?: ComponentChildren;
}) {
  return (
    <fieldset class="question" tabIndex={-1} data-open="">
      <legend>{text}</legend>
      {children}
      <div class="answers">
        {answers.map(({ answer, shown, examples = [] }) => (
          <button key={answer} type="button" onClick={() => onAnswer(answer)}>
            <b>{shown}</b>
            {examples.map((example) => (
              <span key={example}>{example}</span>
            ))}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

/** Moves the focus to the next open question, in an element or below it; without one, to the button that comes next. */
export function focusNext(from: Element): void {
  const open = [...document.querySelectorAll<HTMLElement>(".strip [data-open]")];
  const after = open.find((each) => {
    const place = from.compareDocumentPosition(each);
    return (place & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) !== 0;
  });
  const ways = [".next button.main:enabled", "#columns"].map((each) => document.querySelector<HTMLElement>(each));
  [after, open[0], ...ways].find((each) => each)?.focus();
}
