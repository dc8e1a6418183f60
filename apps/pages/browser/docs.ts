import { startCopyButtons } from "./docs/copy.ts";
import { startSearch } from "./docs/search.ts";
import { startTabs } from "./docs/tabs.ts";

startTabs();
startCopyButtons();
startSearch();

/** On wide screens the contents are a column, which is always open. */
const contents = document.querySelector<HTMLDetailsElement>("details.all");
const isWide = matchMedia("(min-width: 60rem)");
function follow(): void {
  return void (contents && (contents.open = isWide.matches));
}
isWide.addEventListener("change", follow);
follow();
