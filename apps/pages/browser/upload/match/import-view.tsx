import { encodingName, UTF_8 } from "@work-items/importer/letters/encodings.ts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { FileStep } from "./file-step.tsx";
import { STEP_NAMES, type StepName, STEPS, titleOfStep } from "../parts/import-steps.ts";
import { MatchStep } from "./match-step.tsx";
import { countOf, shownBytes } from "../parts/shown.ts";
import { shownInLine } from "../file/target-texts.ts";
import { type ImportProps, useImport } from "../file/use-import.ts";

/** From a file to its import. One step is open, the others are a line each. */
export function ImportView({
  job,
  latest,
  ...props
}: ImportProps & {
  /** The job that is shown, if this page sent its file. */
  readonly job: { readonly isTrial: boolean; readonly view: ComponentChildren } | undefined;
  /** The latest imports, which are shown until a file is chosen. */
  readonly latest: ComponentChildren;
}) {
  const flow = useImport(props, job?.isTrial === false);
  const { table, match, trial, step, open } = flow;
  const jobStep = job?.isTrial === true ? "Check" : "Import";
  const current = job ? jobStep : step.name;
  // Before anyone can type elsewhere.
  useLayoutEffect(() => {
    if (!job && step.takesFocus) document.querySelector<HTMLElement>("li[aria-current] h2")?.focus();
  }, [step, job === undefined]);
  const { sheets = [], sheet } = table?.workbook ?? {};
  const sheetOf = sheets.length > 1 ? [`sheet “${sheet}” of ${sheets.length}`] : [];
  const { encoding = UTF_8 } = table?.text?.format ?? {};
  const readAs = encoding === UTF_8 ? [] : [encodingName(encoding)];
  const lines: Readonly<Partial<Record<StepName, string>>> = {
    ...(table && {
      File: [...sheetOf, ...readAs, table.name, shownBytes(table.size), countOf(table.names.length, "column")].join(
        ", ",
      ),
    }),
    ...(match && { Match: shownInLine(match) }),
    ...(trial && { Check: trial.found }),
  };
  const contents: Readonly<Partial<Record<StepName, ComponentChildren>>> = {
    File: <FileStep flow={flow} />,
    Match: match && <MatchStep match={match} />,
    [jobStep]: job?.view,
  };
  const onOpen = (next: StepName): void => {
    if (next === "Check") location.hash = `#job=${trial?.id ?? ""}`;
    if (next !== "File" && next !== "Match") return;
    location.hash = "#import";
    open(next);
  };
  /** The line of a step that isn't open. It opens the step if it has a text. */
  const lineOf = (name: StepName) => {
    const title = titleOfStep(name);
    if (lines[name] === undefined) {
      return (
        <p class="step">
          <b>{title}</b> <span>{STEPS[name]}</span>
        </p>
      );
    }
    return (
      <button type="button" class="step" onClick={() => onOpen(name)}>
        <b>{title}</b>
        <span>{lines[name]}</span>
        <u>{name === "Check" ? "Open" : "Change"}</u>
      </button>
    );
  };
  const isFirst = !table && !job;
  return (
    <>
      {isFirst && (
        <p class="lead">
          Bring work items in from another system. Nothing is imported until you’ve reviewed the result.
        </p>
      )}
      <ol class="steps">
        {STEP_NAMES.map((name) => (
          <li key={name} aria-current={name === current ? "step" : undefined}>
            {name !== current && lineOf(name)}
            <div hidden={name !== current}>{contents[name]}</div>
          </li>
        ))}
      </ol>
      {isFirst && latest}
    </>
  );
}
