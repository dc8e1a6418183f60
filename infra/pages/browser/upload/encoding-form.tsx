import { useId, useState } from "preact/hooks";
import { encodingName, ENCODINGS, UTF_8 } from "@work-items/importer/files/encodings.ts";
import type { EncodingDoubt } from "@work-items/importer/files/text-file.ts";
import { Alert, Choice } from "./parts.tsx";
import { asSentence } from "./read-text.ts";
import { sentenceOf } from "./shown.ts";
import { readTextFile, type TableFile } from "./table-file.ts";

/** What to do about a file whose encoding is unclear. */
function adviceOf({ likely, mayBeUtf8 }: EncodingDoubt): string {
  if (likely.length > 0)
    return "Choose the encoding in which these values are right. If none is, save the file as UTF-8.";
  return `Save the file as UTF-8 and choose it again${mayBeUtf8 ? ", or keep its text as it stands" : ""}.`;
}

/** Asks for the encoding of a file, by how its values read in the likely ones. */
function EncodingQuestion({
  doubt,
  chosen,
  others,
  onChoose,
}: {
  readonly doubt: EncodingDoubt;
  readonly chosen: string | undefined;
  readonly others: readonly (readonly [string, string])[];
  readonly onChoose: (encoding: string) => void;
}) {
  const id = useId();
  const { problem, likely } = doubt;
  return (
    <fieldset class="question">
      <legend>Which encoding does this file have?</legend>
      <p class={chosen === undefined ? "unchecked" : "note"} role="status">
        {asSentence(problem)} {adviceOf(doubt)}
      </p>
      {likely.map(({ encoding, values }) => (
        <label key={encoding}>
          <input type="radio" name={id} checked={chosen === encoding} onChange={() => onChoose(encoding)} />
          {encodingName(encoding)}: {values.map((value) => `“${value}”`).join(", ")}
        </label>
      ))}
      <Choice
        label={likely.length > 0 ? "Another encoding" : "Encoding"}
        value={chosen === undefined || likely.some(({ encoding }) => encoding === chosen) ? "" : chosen}
        options={[["", "Choose…"], ...others]}
        onChange={(encoding) => encoding !== "" && onChoose(encoding)}
      />
    </fieldset>
  );
}

/** The encoding of a text file: found, or to be chosen if it is unclear. */
export function EncodingForm({
  table,
  text,
  onRead,
}: {
  readonly table: TableFile;
  readonly text: NonNullable<TableFile["text"]>;
  readonly onRead: (table: TableFile) => void;
}) {
  const [error, setError] = useState<string>();
  // What was chosen is shown while the file is read by it.
  const [choice, setChoice] = useState<{ readonly text: typeof text; readonly encoding: string }>();
  const { file, format, asked } = text;
  const choose = (encoding: string): void => {
    setError(undefined);
    setChoice({ text, encoding });
    // What delimits the values was only a guess as long as the encoding was.
    const known = format.doubt ? { encoding } : { encoding, delimiter: table.delimiter };
    readTextFile(file, known, asked).then(onRead, (caught: unknown) => {
      setChoice(undefined);
      setError(sentenceOf(caught));
    });
  };
  const chosen = choice?.text === text ? choice.encoding : format.doubt ? undefined : format.encoding;
  const options = Object.entries(ENCODINGS).filter(
    ([encoding]) => encoding !== UTF_8 || asked === undefined || asked.mayBeUtf8,
  );
  return (
    <>
      {asked ? (
        <EncodingQuestion
          doubt={asked}
          chosen={chosen}
          others={options.filter(([encoding]) => !asked.likely.some((each) => each.encoding === encoding))}
          onChoose={choose}
        />
      ) : (
        <Choice label="Encoding" value={format.encoding} options={options} onChange={choose} />
      )}
      <Alert text={error} />
    </>
  );
}
