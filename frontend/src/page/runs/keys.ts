/** The table of all runs by keyboard. */

import type { App } from "../app";

/** Arrows go from run to run; the browser's own keys do the rest. */
export function moveFocus(event: KeyboardEvent, app: App, picked: readonly string[]): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const box = event.currentTarget as HTMLElement;
  const target = event.target as HTMLElement;
  const field = target.closest<HTMLInputElement>("input.list-filter");
  const runs = [...box.querySelectorAll<HTMLElement>("a.run")];
  const here = target.closest("tr")?.querySelector<HTMLElement>("a.run") ?? null;
  const at = here === null ? -1 : runs.indexOf(here);
  const run = here?.dataset.run;
  if (event.key === "ArrowDown") runs[Math.min(runs.length - 1, at + 1)]?.focus();
  else if (event.key === "ArrowUp" && at === 0)
    box.querySelector<HTMLElement>(".list-filter")?.focus();
  else if (event.key === "ArrowUp") runs[at - 1]?.focus();
  else if (field !== null) {
    if (event.key !== "Enter") return;
    runs[0]?.focus();
  } else if (event.key === "Home") runs[0]?.focus();
  else if (event.key === "End") runs.at(-1)?.focus();
  else if (event.key.toLowerCase() === "x" && run !== undefined) app.pick(run);
  else if (event.key.toLowerCase() === "c" && picked.length > 1) app.comparePicked();
  else return;
  event.preventDefault();
}
