import { cloneElement, type ComponentChildren, type ComponentProps, type VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { shownChoice } from "./field-names.ts";
import { shownAgo, shownNumber, shownTime } from "./shown.ts";
import type { LoadedList } from "./use-calls.ts";

/** A sentence about what went wrong, which screen readers read at once. */
export function Alert({ text }: { readonly text: string | undefined }) {
  return <div role="alert">{text !== undefined && <p class="alert">{text}</p>}</div>;
}

/** A view's heading. It takes the focus when the view appears, for keyboards and screen readers, and names the browser's tab. */
export function Heading({
  children,
  isStep = false,
}: {
  readonly children: string;
  /** Whether it is below the heading of all steps. */
  readonly isStep?: boolean;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the browser can react to a key, so that the focus doesn't move away while someone types.
  useLayoutEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    document.title = `${children} · Work items`;
  }, [children]);
  const Level = isStep ? "h2" : "h1";
  return (
    <Level ref={heading} tabIndex={-1}>
      {children}
    </Level>
  );
}

/** A view that is loading. @param error why it can't be loaded @param onAgain loads it again */
export function Loading({
  error,
  onAgain,
  ...heading
}: Parameters<typeof Heading>[0] & {
  readonly error: string | undefined;
  readonly onAgain?: (() => void) | undefined;
}) {
  return (
    <>
      <Heading {...heading} />
      <Alert text={error} />
      {error === undefined && <p role="status">Loading…</p>}
      {error !== undefined && onAgain && <Button onClick={onAgain}>Try again</Button>}
    </>
  );
}

/** How long ago a moment was, which it says exactly when it is pointed at. */
export function Ago({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} title={shownTime(time)}>
      {shownAgo(time)}
    </time>
  );
}

/** An item's status, as a badge. */
export function ItemStatus({ status }: { readonly status: string }) {
  return <span class={`status ${status}`}>{shownChoice(status)}</span>;
}

/** A button. `main` is what most people choose next, `loss` what loses something; `plain` looks like a link. */
export function Button({
  kind,
  ...button
}: Pick<ComponentProps<"button">, "onClick" | "disabled" | "aria-disabled" | "aria-label" | "children"> & {
  readonly kind?: "main" | "main loss" | "plain" | undefined;
}) {
  return <button type="button" class={kind} {...button} />;
}

interface FieldProps {
  readonly label: string;
  /** Whether only screen readers get the label, because the page shows it anyway. */
  readonly isLabelHidden?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({
  label,
  isLabelHidden = false,
  children: control,
}: Pick<FieldProps, "label" | "isLabelHidden"> & { readonly children: VNode }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      {cloneElement(control, { id })}
    </div>
  );
}

/** Values and how they are shown. */
export type Options = readonly (readonly [value: string, shown: string])[];

/** A choice among options, with its label. */
export function Choice({ value, options, onChange, ...field }: FieldProps & { readonly options: Options }) {
  return (
    <Field {...field}>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A line of text to fill in, with its label. */
export function TextField({
  value,
  onChange,
  label,
  isLabelHidden = false,
  ...input
}: FieldProps & {
  readonly type?: "text" | "date";
  /** Id of a list of proposals. */
  readonly list?: string;
}) {
  return (
    <Field label={label} isLabelHidden={isLabelHidden}>
      <input
        type="text"
        {...input}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        spellcheck={false}
        autocomplete="off"
      />
    </Field>
  );
}

/** A box to check, with what it means. */
export function Check({
  checked,
  onChange,
  children,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {children}
    </label>
  );
}

/** What was answered. It takes the focus of the button that is gone. */
export function Answered({ children }: { readonly children: string }) {
  const own = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) own.current?.focus();
  }, []);
  return (
    <p class="good" ref={own} tabIndex={-1}>
      {children}
    </p>
  );
}

/** An answer, what it reads, and examples of what it makes of the file. */
export type Answer = readonly [answer: string, shown: string, examples?: readonly string[]];

/** A form that is open alone. Its heading takes the focus when the one before it is answered. */
export function OpenForm({
  title,
  note,
  isReady = true,
  onNext,
  children,
}: {
  readonly title: string;
  /** What to know before answering. */
  readonly note?: ComponentChildren;
  readonly isReady?: boolean;
  readonly onNext: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        onNext();
      }}
    >
      <fieldset>
        <legend>
          <h3 tabIndex={-1}>{title}</h3>
        </legend>
        {note}
        {children}
      </fieldset>
      <button type="submit" disabled={!isReady}>
        Next
      </button>
    </form>
  );
}

/**
 * A question with a few answers. A click on one chooses it; the arrow keys only move, and Enter or “Next” chooses then.
 * @param children another way to answer: shows what is picked, and picks
 */
export function Question({
  text,
  note,
  answers,
  chosen,
  onChoose,
  onSkip,
  children,
}: {
  readonly text: string;
  readonly note?: ComponentChildren;
  readonly answers: readonly Answer[];
  readonly chosen?: string | undefined;
  readonly onChoose: (answer: string) => void;
  /** Called by “Next” while nothing is picked, if that is an answer too. */
  readonly onSkip?: (() => void) | undefined;
  readonly children?: (picked: string | undefined, pick: (answer: string) => void) => ComponentChildren;
}) {
  const id = useId();
  const [picked, pick] = useState(chosen);
  // Browsers report a key that moves to an answer as a click. The second click of two was meant for the question before.
  const onlyPicks = useRef(false);
  return (
    <OpenForm
      title={text}
      note={note}
      isReady={picked !== undefined || onSkip !== undefined}
      onNext={() => (picked === undefined ? onSkip?.() : onChoose(picked))}
    >
      <div
        class="answers"
        onKeyDown={() => (onlyPicks.current = true)}
        onMouseDown={({ detail }) => (onlyPicks.current = detail > 1)}
      >
        {answers.map(([answer, shown, examples = []]) => (
          <label key={answer}>
            <input
              type="radio"
              name={id}
              checked={picked === answer}
              onClick={() => {
                pick(answer);
                if (!onlyPicks.current) onChoose(answer);
              }}
            />
            <b>{shown}</b>
            {examples.map((example) => (
              <span key={example}>{example}</span>
            ))}
          </label>
        ))}
      </div>
      {children?.(picked, pick)}
    </OpenForm>
  );
}

/** A fact by its name, with a class of its own if it needs one. */
export type Fact = readonly [name: string, fact: ComponentChildren, kind?: string | undefined];

/** Facts in a list. @param kind class of the list */
export function Facts({ facts, kind }: { readonly facts: readonly Fact[]; readonly kind?: string }) {
  return (
    <dl class={kind}>
      {facts.map(([name, fact, own], index) => (
        <div key={index} class={own}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A table. Columns with numbers are at the right. */
export function Table({
  caption,
  columns,
  rows,
  keys,
  kind,
}: {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** Keys of the rows, if rows may be inserted. @default their indexes */
  readonly keys?: readonly string[];
  /** Class of the table. */
  readonly kind?: string;
}) {
  const classes = columns.map((_, index) =>
    rows.some((row) => typeof row[index] === "number") ? "number" : undefined,
  );
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={kind}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" class={classes[index]}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keys?.[index] ?? index}>
              {row.map((cell, at) => (
                <td key={at} data-label={columns[at]} class={classes[at]}>
                  {typeof cell === "number" ? shownNumber(cell) : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The loaded part of a list. @param status a sentence about it @param children its entries */
export function List({
  list: { entries, isLoading, error, more },
  status,
  children,
}: {
  readonly list: LoadedList<unknown>;
  readonly status: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <Alert text={error} />
      <p role="status">{isLoading ? "Loading…" : error === undefined && status}</p>
      {entries.length > 0 && children}
      {more && !(isLoading && entries.length === 0) && (
        <Button disabled={isLoading} onClick={more}>
          {error === undefined ? "Show more" : "Try again"}
        </Button>
      )}
    </>
  );
}

/** Gives the browser a file to keep. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
