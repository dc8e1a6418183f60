import { doubtsOfLetters } from "@work-items/importer/letters/lost-letters.ts";
import { doubtsOfPeople } from "@work-items/importer/proposals/agent-columns.ts";
import { choicesOf } from "@work-items/importer/proposals/known-choices.ts";
import { agentOfName, plainWords } from "@work-items/importer/proposals/known-headers.ts";
import {
  canBeLeft,
  type NamedIndex,
  fieldsOfTarget,
  isOfEvent,
  sourcesOf,
  type TargetName,
  type TargetState,
} from "@work-items/importer/proposals/target-states.ts";
import { useState } from "preact/hooks";
import { columnIndex, comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { eventTarget, isTime, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { Answered } from "../file/answers.ts";
import { withMadeId, withSource } from "../file/column-roles.ts";
import { choiceOptions, inTypographicQuotes } from "../parts/field-names.ts";
import { IdOffers, MadeId } from "./id-form.tsx";
import { type Answer, Button, Choice, OpenForm, type Options, Question, TextField } from "../parts/parts.tsx";
import type { FormProps } from "./match-line.ts";
import { DateQuestion, EmptyMarks, TimeFields, WordFields, WordQuestion } from "./reading-fields.tsx";
import { shownStart } from "../parts/shown.ts";
import {
  aliasOf,
  keyOf,
  pairsIn,
  problemOfTimes,
  proposedTime,
  surveyed,
  surveyedTimes,
  valuesAt,
  withKey,
} from "../file/sources.ts";
import { asSentence } from "../file/table-file.ts";
import { columnsFor, withColumns, withDecision, withNothing, withOnly, withValue } from "../file/target-choices.ts";
import { hasDefault, isOpen, questionAbout } from "../file/target-questions.ts";
import {
  canHaveValue,
  defaultOf,
  fieldLabel,
  shownNames,
  shownSources,
  targetName,
  targetQuestion,
} from "../file/target-texts.ts";
import type { Match } from "../file/use-import.ts";

interface TargetProps extends FormProps {
  readonly state: TargetState;
}

/** Longer examples are cut. */
const SHOWN_CHARACTERS = 60;
/** What isn't a column. No header begins with NUL. */
const NONE = "\0none";
const SAME = "\0same";

/** Whether a field of a target is a date-time. */
function isTimeOf(target: TargetName, field: string): boolean {
  const made = isOfEvent(target) ? eventTarget(field) : itemTarget(field);
  return made !== undefined && isTime(made);
}

/** The dates that can be read with their times of day, for a date-time. */
function joinedFor(table: Match["table"], target: TargetName, field: string) {
  return isTimeOf(target, field) ? pairsIn(table).filter(({ survey }) => survey !== undefined) : [];
}

/**
 * The columns or the value that set a field. For completion dates, further columns count where the first are empty; the ID of
 * an event can be made of two, such as a ticket and its change.
 */
function FieldSource({ match, state: { target }, field }: Omit<TargetProps, "onNext"> & { readonly field: string }) {
  const { table, mapping, onAnswer } = match;
  const [isTyped, setTyped] = useState(false);
  const label = fieldLabel(target, field);
  const [, source] = sourcesOf(target, { names: table.names, mapping }).find(([each]) => each === field) ?? [];
  const names = numberedNames(table.names).filter(Boolean);
  const pairs = joinedFor(table, target, field).map((pair) => keyOf(pair.source));
  const isEventId = target === "event.external_id";
  const isBeside = hasDefault({ target });
  const singles = source?.first_of ?? (source && source.value === undefined ? [source] : []);
  const given = (isEventId && source?.columns) || singles.map(keyOf);
  const columns = given.map((column) => names.find((each) => comparable(each) === comparable(column)) ?? column);
  const isSame = source?.value !== undefined || (isTyped && source === undefined);
  const set = (next: readonly string[]): void =>
    onAnswer(
      isEventId && next.length > 1
        ? withDecision({ ...match, mapping: withMadeId(table, mapping, next, "event") }, target, "as mapped")
        : withColumns(table, match, target, field, next),
    );
  const setValue = (value: string): void =>
    value === "" ? set([]) : onAnswer(withValue(table, match, target, field, value));
  const choose = (chosen: string, index: number): void => {
    setTyped(chosen === SAME);
    set([...new Set(columns.toSpliced(index, 1, ...([NONE, SAME].includes(chosen) ? [] : [chosen])))]);
  };
  const optionsAt = (index: number): Options => [
    [NONE, index === 0 ? "No column" : "Nothing else"],
    ...(canHaveValue(target) ? [[SAME, "The same value in every row"] as const] : []),
    ...[...new Set([...pairs, ...names, ...columns.slice(index, index + 1)])]
      .filter((key) => !columns.slice(0, index).includes(key))
      .map((key) => [key, names.includes(key) ? key : shownNames(key)] as const),
  ];
  const areMore = columns.length > 0 && (field === "completed_at" || (isEventId && columns.length === 1));
  const choices = choicesOf(field);
  const value = { label: `${label} in every row`, value: source?.value ?? "", onChange: setValue };
  return (
    <>
      {[columns[0], ...columns.slice(1), ...(areMore ? [undefined] : [])].map((column, index) => {
        const before = columns.slice(0, index).map(shownNames);
        const isFirst = index === 0;
        const further = isEventId
          ? "Together with"
          : `When ${before.join(" and ")} ${index === 1 ? "is" : "are"} empty, from`;
        return (
          <Choice
            key={index}
            isLabelHidden={isFirst && fieldsOfTarget(target).length === 1 && field !== "completed_at" && !isBeside}
            label={isFirst ? `${label} from` : further}
            value={isFirst && isSame ? SAME : (column ?? NONE)}
            options={optionsAt(index)}
            onChange={(chosen) => choose(chosen, index)}
          />
        );
      })}
      {isSame && choices && <Choice {...value} options={[["", "Choose…"], ...choiceOptions(choices)]} />}
      {isSame && !choices && <TextField {...value} />}
    </>
  );
}

/** What speaks against a source of a field, also if a person chose it. */
function doubtsAbout({ table, mapping }: Match, field: string, source: Source): readonly string[] {
  const index = columnIndex(table.names, source.column ?? "");
  if (field === "completed_at" || field === "occurred_at") {
    const problem = problemOfTimes(table, source);
    return problem === undefined ? (proposedTime(table, source)?.doubts ?? []) : [problem];
  }
  const letters = field === "external_id" ? [] : doubtsOfLetters(surveyed(table, index).lost);
  const people = field.startsWith("agent_") ? valuesAt(table, index, mapping.empty ?? []) : [];
  const doubts = doubtsOfPeople(
    field,
    people.filter((text) => aliasOf(source, text) === undefined),
  );
  return [...doubts, ...letters];
}

/** How a column of a target is read. */
function Reading({
  match,
  state: { target },
  field,
  source,
}: Omit<TargetProps, "onNext"> & {
  readonly field: string;
  readonly source: Source;
}) {
  const { table, mapping } = match;
  const { column: name = "", prefix = "" } = source;
  const index = columnIndex(table.names, name);
  const change = (next: Source): Answered => ({
    ...match,
    mapping: withSource(mapping, isOfEvent(target) ? "event" : "fields", field, next),
  });
  const onChange = (next: Source): void => match.onAnswer(change(next));
  const props = { match, column: { name, index }, source, onChange };
  const hasTimes = isTimeOf(target, field);
  if (choicesOf(field)) {
    const choose = (next: Source): void => match.onAnswer(withDecision(change(next), target, "as mapped"));
    return <WordFields {...props} target={field} onChange={choose} />;
  }
  return (
    <>
      {hasTimes && <TimeFields {...props} />}
      {target === "external_id" && (
        <TextField
          label="Prefix (optional)"
          value={prefix}
          onChange={(text) => onChange(withKey(source, "prefix", text || undefined))}
        />
      )}
      {doubtsAbout(match, field, source).map((doubt) => (
        <p key={doubt} class="unchecked">
          {asSentence(inTypographicQuotes(doubt))}
        </p>
      ))}
      {!isOfEvent(target) && name !== "" && <EmptyMarks {...props} hasTimes={hasTimes} />}
    </>
  );
}

/** The columns or the value that set a target, or nothing, and how they are read. */
function TargetFields({ match, state, onNext }: TargetProps) {
  const { table, mapping } = match;
  const { target } = state;
  const initial = defaultOf(target, mapping);
  const readable = sourcesOf(target, { names: table.names, mapping }).flatMap(([field, source]) =>
    (source.first_of ?? [source]).flatMap((each) =>
      each.column !== undefined || isTimeOf(target, field) ? [{ field, source: each }] : [],
    ),
  );
  return (
    <>
      <div class="fields">
        {fieldsOfTarget(target).map((field) => (
          <FieldSource key={field} match={match} state={state} field={field} />
        ))}
        {canBeLeft(target) && state.state !== "left" && (
          <Button onClick={() => onNext(withNothing(table, match, target))}>
            {initial === undefined ? "Leave empty" : `Use the default: ${initial}`}
          </Button>
        )}
      </div>
      {readable.map(({ field, source }) => (
        <Reading key={field + keyOf(source)} {...{ match, state, field, source }} />
      ))}
    </>
  );
}

/** Type and subject. */
export function DefaultsForm({ match, states, onNext }: FormProps & { readonly states: readonly TargetState[] }) {
  return (
    <OpenForm title="Type and subject" onNext={onNext}>
      {states.map((state) => (
        <TargetFields key={state.target} match={match} state={state} onNext={onNext} />
      ))}
    </OpenForm>
  );
}

/** The words of a name that say whom a column is about: the same for the name and the email address of one person. */
function personIn(column: string): string {
  const words = plainWords(column);
  return agentOfName(words)?.role ?? words.replace(/ ?(?:name|email|mail|id)$/, "");
}

const LEFT = "\0left";
const OTHER = "\0other";
const TURNED = "\0turned";

/** Asks which of some columns sets a target. Columns about the same person are one answer. */
function ColumnQuestion({
  match,
  state,
  isAsked,
  onNext,
  onOther,
}: TargetProps & {
  /** Whether it is still asked: what was asked of the IDs may be removed from them in the form. */
  readonly isAsked: boolean;
  readonly onOther: () => void;
}) {
  const { table, mapping } = match;
  const { target, candidates, columns, reason } = state;
  const [, mapped = {}] = sourcesOf(target, { names: table.names, mapping })[0] ?? [];
  const isMapped = ({ column }: NamedIndex): boolean => columns.some((each) => each.column === column);
  // What is mapped is one answer, whatever it is made of.
  const groupOf = ({ column }: NamedIndex): string => (target === "agent" ? personIn(column) : column);
  const groups = [...Map.groupBy(candidates, (each) => (isMapped(each) ? "" : groupOf(each))).values()];
  // "Something else" offers dates without their times of day.
  const named = joinedFor(table, target, fieldsOfTarget(target)[0]!).filter(({ subject }) => subject !== undefined);
  const keyFor = ({ index, column }: NamedIndex): string =>
    keyOf(named.find(({ indexes }) => indexes[0] === index)?.source ?? { column });
  // Of several completion dates, another may be the one that counts first.
  const turned = (mapped.first_of ?? []).toReversed();
  const initial = defaultOf(target, mapping);
  const choose = (answer: string): void => {
    if (answer === OTHER) return onOther();
    if (answer === TURNED)
      return onNext(withColumns(table, match, target, fieldsOfTarget(target)[0]!, turned.map(keyOf)));
    const group = groups[Number(answer)] ?? [];
    if (answer === LEFT) onNext(withNothing(table, match, target));
    else if (group.some(isMapped)) onNext(withDecision(match, target, "as mapped"));
    else onNext(withOnly(table, match, target, group.map(keyFor)));
  };
  const timesOf = (source: Source = mapped): readonly string[] => surveyedTimes(table, source)?.examples ?? [];
  const groupAnswers = groups.map((group, index): Answer => {
    const names = group.map((each) => shownNames(keyFor(each))).join(" and ");
    const shown = group.some(isMapped) ? shownSources(target, match) : names;
    const times = group.some(isMapped) ? timesOf(mapped.first_of?.[0]) : [];
    const examples = times.length > 0 ? times : surveyed(table, group[0]!.index).examples;
    return [String(index), shown, examples.map((each) => shownStart(each, SHOWN_CHARACTERS))];
  });
  const turnedAnswer: Answer = [
    TURNED,
    turned.map((each) => shownNames(keyOf(each))).join(", else "),
    timesOf(turned[0]),
  ];
  const left: Answer = [LEFT, initial === undefined ? "Leave empty" : `Use the default: ${initial}`];
  return (
    <Question
      text={targetQuestion(target)}
      note={
        <>
          {state.state === "missing" && (
            <p class="note">
              {candidates.length > 0
                ? "No column’s name says so. By its values, it may be one of these."
                : "No column’s name or values say so."}
            </p>
          )}
          {reason !== "" && (
            <p class="note">
              {inTypographicQuotes(reason.startsWith("by ") ? `Likely ${reason}.` : asSentence(reason))}
            </p>
          )}
          {target === "external_id" && <IdOffers match={match} />}
        </>
      }
      answers={[
        ...groupAnswers,
        ...(turned.length > 1 ? [turnedAnswer] : []),
        ...(canBeLeft(target) ? [left] : []),
        [OTHER, "Something else…"],
      ]}
      onChoose={choose}
      onSkip={isAsked ? undefined : () => onNext()}
    />
  );
}

/** The open question about a target, or everything that can be changed about it. */
export function TargetForm({ match, state, onNext }: TargetProps) {
  const { target } = state;
  // As the form opened: it stays while it is filled in.
  const [asked] = useState(state);
  const [question, setQuestion] = useState(() => questionAbout(match, state));
  const onOther = (): void => setQuestion(undefined);
  const candidates = asked.state === "missing" ? columnsFor(target, match.table, match.mapping) : asked.candidates;
  if (question?.kind === "column" && (candidates.length > 0 || canBeLeft(target)))
    return <ColumnQuestion {...{ match, onNext, onOther }} state={{ ...asked, candidates }} isAsked={isOpen(state)} />;
  if (question?.kind === "date") return <DateQuestion {...{ match, question, onNext }} />;
  if (question?.kind === "words") return <WordQuestion {...{ match, target, question, onNext, onOther }} />;
  return (
    <OpenForm
      title={question ? targetQuestion(target) : targetName(target)}
      isReady={state.state !== "missing"}
      onNext={onNext}
    >
      <TargetFields {...{ match, state, onNext }} />
      {target === "external_id" && (
        <>
          <IdOffers match={match} />
          <MadeId match={match} onNext={onNext} />
        </>
      )}
    </OpenForm>
  );
}
