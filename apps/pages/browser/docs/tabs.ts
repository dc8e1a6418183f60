import { keep, readKept } from "../kept.ts";

/** Name of the chosen language in the browser's storage, for all guides. */
const CHOICE = "language";
const groups: { readonly choose: (language: string) => void }[] = [];

/** Steps between tabs, by key. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** Makes a group's buttons and blocks of code into tabs (WAI-ARIA tabs). */
function startTabsOf(group: Element, index: number): void {
  const buttons = [...group.querySelectorAll<HTMLElement>("[role=tab]")];
  const tabs = [...group.querySelectorAll<HTMLElement>(".code")].map((panel, order) => {
    const tab = buttons[order]!;
    const language = panel.dataset["language"] ?? "";
    tab.id = `tab-${index}-${language}`;
    tab.setAttribute("aria-controls", (panel.id = `panel-${index}-${language}`));
    // A figure with a caption can't have this role.
    panel.querySelector("figcaption")?.remove();
    panel.role = "tabpanel";
    panel.setAttribute("aria-labelledby", tab.id);
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
  for (const [order, { tab, language }] of tabs.entries()) {
    tab.addEventListener("click", () => chooseEverywhere(language));
    tab.addEventListener("keydown", ({ key }) => {
      const step = STEPS[key];
      const next = step === undefined ? undefined : tabs.at((order + step) % tabs.length);
      if (next === undefined) return;
      chooseEverywhere(next.language);
      next.tab.focus();
    });
  }
  groups.push({ choose });
  choose(readKept(() => localStorage, CHOICE) ?? "");
}

export function startTabs(): void {
  for (const [index, group] of document.querySelectorAll(".tabs").entries()) startTabsOf(group, index);
}
