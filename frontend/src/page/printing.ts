/** Printing: every cause open, in light colours, at the width that fits the paper. */

import { CONFIRMING, UNEXPLAINED } from "../catalog/causes";
import { cardId } from "../model/run/cards";
import type { State } from "./state/state";

/** As in print.css. */
const WIDTH_PIXELS = 897;

/** Told to draw at once: what is printed is what stands there when the event has been handled. */
export const DRAW = "slowdown-draw";

/** Everything that a reader would open, opened. */
export function opened(state: State): State {
  const named = (state.report?.causes ?? []).map(cardId);
  const cards = [...named, UNEXPLAINED, CONFIRMING];
  return {
    ...state,
    picker: false,
    width: WIDTH_PIXELS,
    touched: new Map([...state.touched, ...cards.map((id) => [id, true] as const)]),
  };
}

/** Draws for paper before the browser prints, and as it was afterwards. */
export function followPrinting(root: HTMLElement, draw: (forPaper: boolean) => void): void {
  const page = document.documentElement;
  let theme: string | undefined;
  const change = (forPaper: boolean): void => {
    root.classList.toggle("printing", forPaper);
    draw(forPaper);
    for (const more of root.querySelectorAll<HTMLDetailsElement>("details.advice")) {
      more.open = forPaper;
    }
    document.dispatchEvent(new Event(DRAW));
  };
  addEventListener("beforeprint", () => {
    theme = page.dataset.theme;
    page.dataset.theme = "light";
    change(true);
  });
  addEventListener("afterprint", () => {
    if (theme === undefined) delete page.dataset.theme;
    else page.dataset.theme = theme;
    change(false);
  });
  // In TensorBoard the browser would print the window around this frame: one screen of it.
  addEventListener("keydown", (event) => {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    print();
  });
}
