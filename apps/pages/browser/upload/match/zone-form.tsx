import { zoneNamed } from "@work-items/importer/proposals/propose-time.ts";
import { readTime } from "@work-items/importer/proposals/time-formats.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { useState } from "preact/hooks";
import { type LocalTimes, openQuestions, withZone } from "../file/answers.ts";
import { exampleOfTimes, TIME_ZONE } from "../file/sources.ts";
import { Alert, type Answer, Question, TextField } from "../parts/parts.tsx";
import { shownTime } from "../parts/shown.ts";
import type { FormProps } from "./match-line.ts";

/** Asks in which time zone the times are that name none: once for all columns of the file. */
export function ZoneForm({
  match,
  times: { own, column, source, isAsked },
  onNext,
}: FormProps & { readonly times: LocalTimes }) {
  const { table, mapping, checked } = match;
  const { format = "iso", time_zone: zone = "" } = source;
  /** The likely time zones: that of the mapping or the last file, and this computer's. */
  const [wrong, setWrong] = useState<string>();
  const [offered] = useState(() => [...new Set([zone || TIME_ZONE, TIME_ZONE, "UTC"])]);
  // What a time zone makes of a date isn't known before it is known which date that is.
  const isDateAsked = openQuestions(table, mapping, checked).some(
    (question) => question.kind === "date" && comparable(question.column) === comparable(column),
  );
  const example = isDateAsked ? undefined : exampleOfTimes(table, source);
  const answerOf = (each: string): Answer => {
    const time = example === undefined ? undefined : readTime(example, format, each);
    const examples = time === undefined ? [] : [`“${example}” is ${shownTime(time)} on this computer’s clock`];
    return [each, each === TIME_ZONE ? `${each} (this computer’s)` : each, examples];
  };
  return (
    <Question
      text={own === "" ? "Which time zone are the times in?" : `Which time zone are the times of “${own}” in?`}
      answers={offered.map(answerOf)}
      chosen={isAsked ? undefined : zone}
      onChoose={(chosen) => {
        const named = zoneNamed(chosen);
        if (named === undefined) setWrong(chosen);
        else onNext(withZone(table, match, column, named));
      }}
    >
      {(picked = "", pick) => (
        <>
          <TextField
            label="Another time zone"
            value={offered.includes(picked) ? "" : picked}
            list="time-zones"
            onChange={pick}
          />
          <Alert text={wrong && `“${wrong}” isn’t a time zone. Type a city or an area, and choose from the list.`} />
        </>
      )}
    </Question>
  );
}
