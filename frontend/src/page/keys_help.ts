/** All keys and gestures of the page, in a dialog that `?` opens in every view. */

import { html, type TemplateResult } from "lit-html";
import type { App } from "./app";

type Keys = readonly (readonly [keys: string, what: string])[];

export const EVERYWHERE: Keys = [
  ["?", "show or close this list"],
  ["R", "choose a run; in the table of all runs: filter"],
  ["Alt ←", "back to the view before"],
  ["Esc", "close a list, a menu, or this one"],
];

export const TIMELINE: Keys = [
  ["← → Home End", "move the cursor; with Shift: select"],
  ["Drag", "select"],
  ["[ ]", "previous and next change point"],
  ["W S + −, Ctrl wheel", "zoom"],
  ["A D, Shift wheel", "pan"],
  ["F Z, double click", "zoom to the selection, else to the whole run"],
  ["0", "whole run"],
  ["M", "select what is in view"],
  ["Enter", "nearest trace"],
  ["Click", "trace of the step; on a tick: what it is"],
  ["Esc", "clear the selection"],
  ["Click in the legend", "show one cause; with Ctrl: add another"],
];

export const ALL_RUNS: Keys = [
  ["/", "filter"],
  ["↑ ↓ Home End", "from run to run"],
  ["Enter", "open"],
  ["X", "choose for a comparison"],
  ["C", "compare those chosen"],
];

const list = (title: string, keys: Keys): TemplateResult =>
  html`<h3>${title}</h3><dl>${keys.map(
    ([key, what]) => html`<div><dt>${key}</dt><dd>${what}</dd></div>`,
  )}</dl>`;

export const keysDialog: TemplateResult = html`<dialog class="keys" aria-labelledby="title-keys" @click=${closeOutside}>
    <header><h2 id="title-keys">Keys and mouse</h2><button class="sm" @click=${toggleKeys}>Close</button></header>
    <div class="two"><div>${list("Timeline, once it has the focus", TIMELINE)}</div>
      <div>${list("Everywhere", EVERYWHERE)}${list("All runs", ALL_RUNS)}</div></div>
  </dialog>`;

export const keysButton: TemplateResult = html`<button class="sm help" aria-haspopup="dialog" title="Keys and mouse (?)" @click=${toggleKeys}>?</button>`;

const dialog = (): HTMLDialogElement | null =>
  document.querySelector<HTMLDialogElement>("dialog.keys");

/** While it is open no other key of the page works. */
const areKeysShown = (): boolean => dialog()?.open ?? false;

function toggleKeys(): void {
  if (areKeysShown()) dialog()?.close();
  else {
    window.focus(); // the key may have been TensorBoard's
    dialog()?.showModal();
  }
}

/** What is around the dialog belongs to it for the mouse. */
function closeOutside({ target, currentTarget }: Event): void {
  if (target === currentTarget) toggleKeys();
}

/** The keys that work wherever the focus is, but for fields to type in. */
export function pressed(event: KeyboardEvent, app: App): void {
  const key = event.key.toLowerCase();
  const isTyping = (event.target as HTMLElement).closest("input, textarea, select") !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "?") toggleKeys();
  else if (areKeysShown()) return;
  else if (key === "r" || (key === "/" && app.state.run === undefined)) app.picker(true);
  else return;
  event.preventDefault();
}
