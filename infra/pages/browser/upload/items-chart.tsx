import type { Item } from "./api.ts";
import { Bars, Days } from "./charts.tsx";
import { shownChoice } from "./field-names.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";

const DAY_MS = 86_400_000;
/** More days are no columns that can be told apart. */
const SHOWN_DAYS = 92;

function dayOf(time: string): string {
  const date = new Date(time);
  return new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())).toISOString();
}

function shownDay(day: string): string {
  return new Date(day).toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" });
}

/** How many of the items that are loaded have each status, and were completed on each day of the last ones. */
export function ItemsChart({ items }: { readonly items: readonly Item[] }) {
  const statuses = Map.groupBy(items, ({ status }) => status);
  const bars = WORK_ITEM_FIELDS.status.kind.choices.flatMap((status) => {
    const count = statuses.get(status)?.length ?? 0;
    return count > 0 ? [{ name: shownChoice(status), count, kind: status }] : [];
  });
  const days = Map.groupBy(
    items.flatMap(({ completed_at: at }) => (at === null ? [] : [dayOf(at)])),
    (day) => day,
  );
  const [first, last] = [[...days.keys()].toSorted()[0], [...days.keys()].toSorted().at(-1)];
  const count = first && last ? Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1 : 0;
  const shown = Math.min(count, SHOWN_DAYS);
  const columns = Array.from({ length: shown }, (_, index) => {
    const day = new Date(Date.parse(last!) - (shown - 1 - index) * DAY_MS).toISOString();
    return { name: shownDay(day), count: days.get(day)?.length ?? 0 };
  });
  return (
    <div class="charts">
      <Bars title="By status" bars={bars} />
      {columns.length > 1 && (
        <Days title={count > shown ? `Completed, the last ${shown} days` : "Completed by day"} bars={columns} />
      )}
    </div>
  );
}
