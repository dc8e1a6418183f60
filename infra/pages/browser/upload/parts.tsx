import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/** A sentence about what went wrong, which screen readers say at once; nothing if there is none. */
export function Alert({ text }: { readonly text: string | undefined }) {
  return <div role="alert">{text !== undefined && <p class="alert">{text}</p>}</div>;
}

/** A heading that takes the focus when its view appears, so that keyboard and screen reader begin there, and names the view in the tab. */
export function Heading({
  children,
  isStep = false,
}: {
  readonly children: string;
  /** Whether it is below the heading of all steps. */
  readonly isStep?: boolean;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
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

/** A choice among options, with its label. */
export function Choice({
  label,
  isLabelHidden = false,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  /** Whether only screen readers say the label: what stands beside it shows it. */
  readonly isLabelHidden?: boolean;
  readonly value: string;
  /** Values and how they are shown. */
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A line of text to fill in, with its label. */
export function TextField({
  label,
  isLabelHidden = false,
  value,
  onChange,
  type = "text",
  list,
}: {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "date";
  /** Id of a list of proposals. */
  readonly list?: string;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <input
        id={id}
        type={type}
        value={value}
        {...(list !== undefined && { list })}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        spellcheck={false}
        autocomplete="off"
      />
    </div>
  );
}

/** The frame of a table, which scrolls by itself where the screen is narrow. @param children its rows */
export function TableFrame({
  caption,
  columns,
  kind,
  children,
}: {
  readonly caption: string;
  readonly columns: readonly string[];
  /** Class of the table. */
  readonly kind?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={kind}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A table of cells. */
export function Table({
  rows,
  ...frame
}: {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  return (
    <TableFrame {...frame}>
      {rows.map((row, index) => (
        <tr key={index}>
          {row.map((cell, at) => (
            <td key={at}>{cell}</td>
          ))}
        </tr>
      ))}
    </TableFrame>
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
