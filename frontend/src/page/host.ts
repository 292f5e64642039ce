/**
 * TensorBoard around the page: its theme, its address and its reload button.
 *
 * Every reach into the parent window may be refused (a notebook's frame, another origin): the
 * page then stands by itself.
 */

import { isOurs } from "../model/address";

/** "new": Back returns to what was before. */
export type Entry = "new" | "same";

export interface Host {
  hash(): string;
  /** Keeps an address, as a new entry of the history or in place; silent where it is refused. */
  keep(hash: string, entry: Entry): void;
  /** The address that a colleague can open. */
  link(): string;
  onHash(changed: () => void): void;
  /** Keys of the page, also while the focus is on nothing of TensorBoard's around it. */
  onKey(pressed: (event: KeyboardEvent) => void): void;
  onReload(reloaded: () => void): void;
  /** Sets `data-theme` on the page's root now and whenever TensorBoard's switch moves. */
  followTheme(changed: () => void): void;
}

export function browserHost(own: globalThis.Window = window): Host {
  const outer = reachable(own);
  return {
    hash: () => outer.location.hash,
    keep: (hash, entry) => {
      if (!isOurs(outer.location.hash) || outer.location.hash === hash) return;
      try {
        if (entry === "new") outer.history.pushState(outer.history.state, "", hash);
        else outer.history.replaceState(outer.history.state, "", hash);
      } catch {
        // Browsers limit how often an address may change; the next change carries this one.
      }
    },
    link: () => outer.location.href,
    onHash: (changed) => outer.addEventListener("hashchange", changed),
    onKey: (pressed) => {
      own.document.addEventListener("keydown", pressed);
      if (outer === own) return;
      outer.document.addEventListener("keydown", (event) => {
        if (event.target === outer.document.body) pressed(event);
      });
    },
    onReload: (reloaded) => listen(own, reloaded),
    followTheme: (changed) => followTheme(own, outer, changed),
  };
}

/** The parent where it may be read, else the frame itself. */
function reachable(own: globalThis.Window): globalThis.Window {
  try {
    void own.parent.location.hash;
    void own.parent.document.body;
    return own.parent;
  } catch {
    return own;
  }
}

function followTheme(own: globalThis.Window, outer: globalThis.Window, changed: () => void): void {
  const root = own.document.documentElement;
  const framed = outer !== own;
  const preference = own.matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    const dark = framed ? outer.document.body.classList.contains("dark-mode") : preference.matches;
    const theme = dark ? "dark" : "light";
    if (root.dataset.theme === theme) return;
    root.dataset.theme = theme;
    changed();
  };
  if (framed) {
    const observer = new MutationObserver(apply);
    observer.observe(outer.document.body, { attributes: true, attributeFilter: ["class"] });
  }
  preference.addEventListener("change", apply);
  apply();
}

interface Message {
  readonly type?: string;
  readonly id?: number;
  readonly isReply?: boolean;
}

/** TensorBoard's channel to plugins: it says when its data were loaded again. */
function listen(own: globalThis.Window, reloaded: () => void): void {
  if (own.parent === own) return;
  const channel = new MessageChannel();
  channel.port1.onmessage = (event: MessageEvent<unknown>): void => {
    const message = parsed(event.data);
    if (message === undefined || message.isReply) return;
    const reply = { type: message.type, id: message.id, payload: null, error: null, isReply: true };
    channel.port1.postMessage(JSON.stringify(reply));
    if (message.type === "experimental.DataReloaded") reloaded();
  };
  own.parent.postMessage("experimental.bootstrap", "*", [channel.port2]);
}

function parsed(data: unknown): Message | undefined {
  try {
    const message: unknown = typeof data === "string" ? JSON.parse(data) : data;
    return typeof message === "object" && message !== null ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}
