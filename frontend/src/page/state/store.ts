/** The one place where the page's state is held and changed. */

import { INITIAL, type State } from "./state";

export class Store {
  #state: State = INITIAL;

  /** `draw` is told of every change. */
  constructor(private readonly draw: (state: State) => void) {}

  get state(): State {
    return this.#state;
  }

  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    this.draw(this.#state);
  }
}

/** One timer at a time: setting it anew forgets what it was to do. */
export class Delay {
  #timer: ReturnType<typeof setTimeout> | undefined;

  after(milliseconds: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, milliseconds);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
