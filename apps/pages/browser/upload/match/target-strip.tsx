import type { TargetName, TargetState } from "@work-items/importer/proposals/target-states.ts";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Answered } from "../file/answers.ts";
import { focusNext } from "../parts/asked.tsx";
import { type Misfit, misfitsOf } from "../file/check-rows.ts";
import { Button } from "../parts/parts.tsx";
import { shownStart } from "../parts/shown.ts";
import { surveyed } from "../file/sources.ts";
import { TargetFields } from "./target-fields.tsx";
import { isOpen, questionsAbout, shownQuestion } from "../file/target-questions.ts";
import { shownState, targetName } from "../file/target-texts.ts";
import type { Match } from "../file/use-import.ts";

const SAMPLE_CHARACTERS = 40;

function idOf(target: TargetName): string {
  return `target-${target.replace(".", "-")}`;
}

/** Opens a target, and moves the focus to its question. */
function openTarget(target: TargetName): void {
  const details = document.querySelector<HTMLDetailsElement>(`#${idOf(target)} > details`);
  if (!details) return;
  details.open = true;
  focusNext(details);
}

/** A target in a line. It opens to change what sets it, and is open while that is asked. */
function TargetRow({
  match,
  state,
  misfits,
  onAnswer,
}: {
  readonly match: Match;
  readonly state: TargetState;
  readonly misfits: ReadonlyMap<number, Misfit>;
  /** Called with an answer whose question goes away. */
  readonly onAnswer: (answered: Answered) => void;
}) {
  const { table, ids } = match;
  const { target, columns } = state;
  const isAsked = isOpen(state);
  const [isShown, show] = useState(isAsked);
  const { repeatedRows = 0, oddRows = 0 } = (target === "external_id" && ids.findings) || {};
  const isNoted = repeatedRows + oddRows > 0;
  useLayoutEffect(() => {
    if (isAsked || isNoted) show(true);
  }, [isAsked, isNoted]);
  const questions = questionsAbout(match, state);
  const question = shownQuestion(questions, state);
  const examples = columns.flatMap(({ index }) => surveyed(table, index).examples).slice(0, 3);
  return (
    <li id={idOf(target)} class={isAsked ? "open" : undefined}>
      <details open={isShown} onToggle={({ currentTarget }) => show(currentTarget.open)}>
        <summary>
          <b>{targetName(target)}</b>
          <span>{shownState(state, match)}</span>
          <span class="samples">
            {examples.map((example, index) => (
              <span key={index}>{shownStart(example, SAMPLE_CHARACTERS)}</span>
            ))}
          </span>
          {question !== "" && !isShown && <span class="unchecked">{question}</span>}
          {!isAsked && <u>{isShown ? "Close" : "Change"}</u>}
        </summary>
        {isShown && (
          <TargetFields match={match} state={state} questions={questions} misfits={misfits} onAnswer={onAnswer} />
        )}
      </details>
    </li>
  );
}

/** All targets of the import, always all of them: what sets each, or the question about it. */
export function TargetStrip({ match }: { readonly match: Match }) {
  const { table, mapping, states, onAnswer } = match;
  const misfits = useMemo(() => misfitsOf(table, mapping), [table, mapping]);
  const answered = useRef<TargetName>(undefined);
  useLayoutEffect(() => {
    const state = states.find(({ target }) => target === answered.current);
    answered.current = undefined;
    const details = state && document.querySelector<HTMLDetailsElement>(`#${idOf(state.target)} > details`);
    if (!details) return;
    details.open = isOpen(state);
    focusNext(details);
  });
  return (
    <ol class="strip" aria-label="What the import sets">
      {states.map((state) => (
        <TargetRow
          key={state.target}
          match={match}
          state={state}
          misfits={misfits}
          onAnswer={(next) => {
            answered.current = state.target;
            onAnswer(next);
          }}
        />
      ))}
    </ol>
  );
}

/** Names the targets that a person has yet to look at, each as a link to it. */
export function OpenTargets({ states }: { readonly states: readonly TargetState[] }) {
  const open = states.filter(isOpen);
  return (
    <p role="status" class={open.length > 0 ? "unchecked" : undefined}>
      {open.length > 0 && "Before you run a trial or import, decide on: "}
      {open.map(({ target }) => (
        <Button key={target} kind="plain" onClick={() => openTarget(target)}>
          {targetName(target)}
        </Button>
      ))}
    </p>
  );
}
