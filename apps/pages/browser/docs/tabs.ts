import { keep, readKept } from "../kept.ts";

/** Where the chosen language is kept, for all guides. */
const CHOICE = "language";
const groups: { readonly choose: (language: string) => void }[] = [];

/** Lets a group's tabs choose its block of code, by the pattern that assistive technology knows (WAI-ARIA tabs). */
function startTabsOf(group: Element, index: number): void {
  const buttons = [...group.querySelectorAll<HTMLElement>("[role=tab]")];
  const tabs = [...group.querySelectorAll<HTMLElement>(".code")].map((panel, at) => {
    const tab = buttons[at]!;
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
  groups.push({ choose });
  choose(readKept(() => localStorage, CHOICE) ?? "");
}

/** Lets all tabs in the page choose code. */
export function startTabs(): void {
  for (const [index, group] of document.querySelectorAll(".tabs").entries()) startTabsOf(group, index);
}
