import type { ComponentChildren } from "preact";

const STEPS = ["File", "Match", "Check", "Import"] as const;
/** A step from a file to its import. */
export type StepName = (typeof STEPS)[number];

/** The steps of an import: the current one in full, each other as a line that opens it. */
export function Steps({
  current,
  lines,
  onOpen,
  contents,
}: {
  readonly current: StepName;
  /** What the steps say that can be opened. */
  readonly lines: Readonly<Partial<Record<StepName, string>>>;
  readonly onOpen: (step: StepName) => void;
  readonly contents: Readonly<Partial<Record<StepName, ComponentChildren>>>;
}) {
  return (
    <ol class="steps">
      {STEPS.map((name, index) => (
        <li key={name} aria-current={name === current ? "step" : undefined}>
          {name !== current &&
            (lines[name] === undefined ? (
              <p class="step">
                {index + 1}. {name}
              </p>
            ) : (
              <button type="button" class="step" onClick={() => onOpen(name)}>
                <b>
                  {index + 1}. {name}
                </b>
                <span>{lines[name]}</span>
                <u>{name === "Check" ? "Open" : "Change"}</u>
              </button>
            ))}
          <div hidden={name !== current}>{contents[name]}</div>
        </li>
      ))}
    </ol>
  );
}
