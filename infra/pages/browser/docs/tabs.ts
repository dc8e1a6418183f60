import { keep, readKept } from "../kept.ts";

/** Where the chosen language is kept, for all guides. */
const CHOICE = "language";
const groups: { readonly choose: (language: string) => void }[] = [];

/** Makes tabs of the blocks of code in a group, by the pattern that assistive technology knows (WAI-ARIA tabs). */
function makeTabsOf(group: Element, index: number): void {
  const panels = [...group.querySelectorAll<HTMLElement>(".code")];
  const list = document.createElement("div");
  list.className = "tablist";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const tabs = panels.map((panel) => {
    const language = panel.dataset["language"] ?? "";
    const caption = panel.querySelector("figcaption");
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${index}-${language}`;
    tab.textContent = caption?.textContent ?? language;
    tab.setAttribute("role", "tab");
    panel.id = `panel-${index}-${language}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", panel.id);
    caption?.remove();
    list.append(tab);
    return { tab, panel, language };
  });
  const choose = (language: string): void => {
    const chosen = tabs.find((each) => each.language === language) ?? tabs[0];
    for (const each of tabs) {
      each.tab.setAttribute("aria-selected", String(each === chosen));
      each.tab.tabIndex = each === chosen ? 0 : -1;
      each.panel.hidden = each !== chosen;
    }
  };
  const chooseEverywhere = (language: string): void => {
    keep(() => localStorage, CHOICE, language);
    for (const each of groups) each.choose(language);
  };
  for (const [at, { tab, language }] of tabs.entries()) {
    tab.addEventListener("click", () => chooseEverywhere(language));
    tab.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      const next = tabs.at((at + step) % tabs.length);
      if (step === 0 || next === undefined) return;
      chooseEverywhere(next.language);
      next.tab.focus();
    });
  }
  const head = document.createElement("div");
  head.className = "head";
  head.append(list);
  group.prepend(head);
  groups.push({ choose });
  choose(readKept(() => localStorage, CHOICE) ?? "");
}

/** Makes tabs of all groups of blocks of code in the page. */
export function makeTabs(): void {
  for (const [index, group] of document.querySelectorAll(".tabs").entries()) makeTabsOf(group, index);
}
