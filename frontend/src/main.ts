/** TensorBoard imports this module into a frame of its own and calls `render`. */

import { render as draw } from "lit-html";
import { Client } from "./api/client";
import { embeddedFetch, isShared } from "./api/embedded";
import type { Run, RunReport } from "./api/wire/report";
import { App } from "./page/app";
import { browserHost } from "./page/host";
import { pressed } from "./page/keys_help";
import { followPrinting, opened } from "./page/printing";
import { Shell } from "./page/shell";
import { INITIAL, isLoading, type State, shownRun } from "./page/state/state";
import { STYLES } from "./styles";

const SECOND = 1000;
/** How often the page says anew how long ago a live run reported. */
const LIVE_SECONDS = 5;

/** A panel counts as looked at from so far below the window's top: where a link leads to. */
const SIGHT = 72;

/** The last panel that begins above the line of sight; undefined at the very top. */
function panelInSight(root: HTMLElement): string | undefined {
  const begun = [...root.querySelectorAll("section")].filter(
    (section) => section.getBoundingClientRect().top < SIGHT,
  );
  return begun.at(-1)?.id;
}

/** What a bookmark and a printed file are called. */
const titleOf = ({ title }: Run, { headline }: RunReport): string =>
  `${title}: ${headline.replaceAll("`", "").replace(/\.$/, "")} - Slowdown`;

export async function render(): Promise<void> {
  const style = document.createElement("style");
  style.textContent = STYLES;
  document.head.append(style);
  document.documentElement.lang = "en";
  document.title = "Slowdown";
  const root = document.createElement("div");
  root.className = "slowdown";
  document.body.append(root);

  const host = browserHost();
  let state: State = INITIAL;
  let pending = false;
  let printing = false;
  const paint = (): void => {
    pending = false;
    // In TensorBoard the title is that of the window around this frame.
    const shown = shownRun(state);
    if (isShared() && shown && state.report) document.title = titleOf(shown, state.report);
    draw(shell.page(printing ? opened(state) : state, Date.now() / SECOND), root);
  };
  const schedule = (next: State): void => {
    state = next;
    if (pending) return;
    pending = true;
    requestAnimationFrame(paint);
  };
  followPrinting(root, (forPaper) => {
    printing = forPaper;
    paint();
  });
  const app = new App(new Client(embeddedFetch()), host, schedule, () => root.clientWidth > 0);
  const shell = new Shell(app);
  host.followTheme(() => document.dispatchEvent(new Event("slowdown-theme")));
  new ResizeObserver(() => {
    const main = root.querySelector("main");
    if (main === null || main.clientWidth === 0) return;
    const { paddingLeft, paddingRight } = getComputedStyle(main);
    app.resize(main.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  }).observe(root);
  const scrolled = (): void => {
    app.look(panelInSight(root));
    const below = document.documentElement.scrollHeight - scrollY - innerHeight;
    if (below < innerHeight && root.querySelector("button.more-rows") !== null) app.moreRows();
  };
  document.addEventListener("scroll", scrolled, { passive: true });
  host.onKey((event) => {
    if (root.clientWidth > 0) pressed(event, app);
  });
  // "Reported 12 s ago" and the countdown of a lost server grow old by themselves.
  let seconds = 0;
  setInterval(() => {
    seconds += 1;
    const run = shownRun(state);
    const grows = state.gone !== undefined || state.picker || isLoading(state);
    const ages = run?.live === true && seconds % LIVE_SECONDS === 0;
    if (root.clientWidth > 0 && (grows || ages)) schedule(state);
  }, SECOND);
  paint();
  await app.start();
}
