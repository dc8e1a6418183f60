import { useState } from "preact/hooks";
import { Button, Check, Choice, OpenForm, saveFile, TextField } from "../parts/parts.tsx";
import { withKey } from "../file/sources.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Settings that seldom change: empty values, decimal mark, empty cells, events, and the mapping itself. */
function SettingsForm({ match, onNext }: FormProps) {
  const { mapping, onChange } = match;
  const json = JSON.stringify(mapping, null, 2);
  const empty = (mapping.empty ?? []).join(" ");
  const [typed, setTyped] = useState("");
  return (
    <OpenForm title="More settings" onNext={() => onNext()}>
      <div class="fields">
        <TextField
          label="Values that mean “empty”, separated by spaces"
          value={wordsIn(typed).join(" ") === empty ? typed : empty}
          onChange={(text) => {
            setTyped(text);
            const words = wordsIn(text);
            onChange(withKey(mapping, "empty", words.length === 0 ? undefined : words));
          }}
        />
        <Choice
          label="Decimal mark of numbers"
          value={mapping.decimal ?? "."}
          options={[
            [".", "Point (1.5)"],
            [",", "Comma (1,5)"],
          ]}
          onChange={(mark) => onChange(withKey(mapping, "decimal", mark === "," ? "," : undefined))}
        />
        <Choice
          label="Empty cells"
          value={mapping.blank ?? "keep"}
          options={[
            ["keep", "Leave the field as it is"],
            ["clear", "Clear the field"],
          ]}
          onChange={(blank) => onChange({ ...mapping, blank: blank === "clear" ? "clear" : "keep" })}
        />
      </div>
      <Check
        checked={mapping.event !== undefined}
        onChange={(checked) => onChange(withKey(mapping, "event", checked ? {} : undefined))}
      >
        This file is a change log: add each row to its item as an event
      </Check>
      <h4>This mapping as JSON, for the API</h4>
      <pre tabIndex={0}>{json}</pre>
      <Button onClick={() => saveFile("mapping.json", new Blob([json]))}>Save</Button>
    </OpenForm>
  );
}

/** The line about them. */
export const SETTINGS_LINE: MatchLine = {
  name: "More settings",
  text: "empty values, decimal mark, empty cells, change logs, JSON",
  form: (props) => <SettingsForm {...props} />,
};
