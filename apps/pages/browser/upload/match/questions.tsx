import { isOfGroups, plainWords } from "@work-items/importer/proposals/known-headers.ts";
import type { TargetName } from "@work-items/importer/proposals/target-states.ts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Answered, LocalTimes } from "../file/answers.ts";
import { hasDefault, isOpen, questionsLeft } from "../file/target-questions.ts";
import { shownState, targetName } from "../file/target-texts.ts";
import type { Match } from "../file/use-import.ts";
import { columnsLine } from "./columns-form.tsx";
import { FileIdsNote, totalsLine } from "./file-notes.tsx";
import { CleanedIdsNote } from "./id-form.tsx";
import { fillLine } from "./fill-form.tsx";
import type { MatchLine } from "./match-line.ts";
import { countOf } from "../parts/shown.ts";
import { ClockNote } from "./reading-fields.tsx";
import { SETTINGS_LINE } from "./settings-form.tsx";
import { DefaultsForm, TargetForm } from "./target-form.tsx";
import { ZoneForm } from "./zone-form.tsx";

/** Says that groups become agents. */
function GroupNote({ states }: Match) {
  const { columns = [] } = states.find(({ target }) => target === "agent") ?? {};
  const group = columns.find(({ column }) => isOfGroups(plainWords(column)));
  return group && <p class="note">Each value of “{group.column}” becomes an agent, as if it were a person.</p>;
}

/** What is said about a target below its line. */
const NOTES: Readonly<Partial<Record<TargetName, (match: Match) => ComponentChildren>>> = {
  external_id: (match) => (
    <>
      <CleanedIdsNote match={match} />
      <FileIdsNote {...match.ids} />
    </>
  ),
  agent: (match) => <GroupNote {...match} />,
  completed_at: (match) => <ClockNote match={match} />,
};

function zoneLine({ own, source, isAsked, ...others }: LocalTimes): MatchLine {
  return {
    name: own === "" ? "Time zone" : `Time zone of “${own}”`,
    text: isAsked ? "needs an answer" : (source.time_zone ?? "none"),
    isAsked,
    form: (props) => <ZoneForm {...props} times={{ own, source, isAsked, ...others }} />,
  };
}

/** All parts of the match step: what the import sets, and how the file is read. */
function linesOf(match: Match): MatchLine[] {
  const { states, localTimes, ids } = match;
  const areUnique = ids.findings?.isComplete === true && ids.findings.repeatedRows === 0;
  const defaults = states.filter(hasDefault);
  const targets = states
    .filter((state) => !hasDefault(state))
    .map((state): MatchLine => ({
      name: targetName(state.target),
      text: shownState(state, match) + (state.target === "external_id" && areUnique ? ", none repeats" : ""),
      isAsked: isOpen(state),
      note: NOTES[state.target]?.(match),
      form: (props) => <TargetForm {...props} state={state} />,
    }));
  return [
    ...targets,
    ...localTimes.map(zoneLine),
    {
      name: "Type and subject",
      text: defaults.map((state) => `${targetName(state.target)}: ${shownState(state, match)}`).join(" · "),
      form: (props) => <DefaultsForm {...props} states={defaults} />,
    },
    ...totalsLine(match),
    ...fillLine(match),
    ...columnsLine(match),
    SETTINGS_LINE,
  ];
}

/** The parts of the match step. One is open: the first that a person must answer, or the one that they change. */
export function Questions({ match }: { readonly match: Match }) {
  const lines = linesOf(match);
  const asked = lines.find(({ isAsked }) => isAsked);
  const [{ name, turn }, open] = useState({ name: asked?.name, turn: 0 });
  const [isDone, setDone] = useState(false);
  const current = lines.find((line) => line.name === name) ?? asked;
  const list = useRef<HTMLOListElement>(null);
  const onNext = (answered?: Answered): void => {
    if (answered) match.onAnswer(answered);
    setDone(true);
  };
  useLayoutEffect(() => {
    if (!isDone) return;
    setDone(false);
    const at = lines.findIndex((line) => line === current);
    const next = [...lines.slice(Math.max(at, 0)), ...lines].find(({ isAsked }) => isAsked);
    open({ name: next?.name, turn: turn + 1 });
  });
  useLayoutEffect(() => {
    if (turn === 0) return;
    const ways = [".next button.main:enabled", "#columns"].map((each) => document.querySelector<HTMLElement>(each));
    [list.current?.querySelector<HTMLElement>("form h3"), ...ways].find((each) => each)?.focus();
  }, [turn]);
  return (
    <div>
      <p role="status" class={asked ? "left" : "note"}>
        {asked
          ? `${countOf(questionsLeft(match, match.states) + (match.isFillAsked ? 1 : 0), "question")} left`
          : "Nothing left to answer."}
      </p>
      <ol class="strip" aria-label="What the import sets" ref={list}>
        {lines.map((line) => (
          <li key={line.name} class={[line === current && "open", line.isAsked && "asked"].filter(Boolean).join(" ")}>
            {line === current ? (
              <div key={turn}>{line.form({ match, onNext })}</div>
            ) : (
              <button type="button" class="step" onClick={() => open({ name: line.name, turn: turn + 1 })}>
                <b>{line.name}</b>
                <span>{line.text}</span>
                <u>{line.isAsked ? "Answer" : "Change"}</u>
              </button>
            )}
            {line.note}
          </li>
        ))}
      </ol>
    </div>
  );
}
