/** Scenes of the timelines at hand, made anew only when something they show has changed. */

import type { Timeline } from "../api/wire/timeline";
import { type Scene, sceneOf } from "../model/timeline/scene";
import { ranked } from "../model/timeline/stack";
import { contains, type Window } from "../model/timeline/window";

export interface Scenes {
  readonly whole: Scene;
  readonly detail: Scene;
}

interface Made {
  readonly of: Timeline;
  readonly lostOnly: boolean;
  readonly layers: readonly string[];
  readonly scene: Scene;
}

export class SceneCache {
  #whole: Made | undefined;
  #detail: Made | undefined;

  /** The whole run, and the finest data that covers `view`: zoomed out too far, the whole run. */
  covering(
    whole: Timeline,
    detail: Timeline | undefined,
    view: Window,
    lostOnly: boolean,
    layers: readonly string[],
  ): Scenes {
    const rank = ranked(whole);
    const made = (of: Timeline): Made => {
      return { of, lostOnly, layers, scene: sceneOf(of, rank, lostOnly, layers) };
    };
    const fresh = (one: Made | undefined, of: Timeline): boolean =>
      one?.of === of && one.lostOnly === lostOnly && one.layers === layers;
    if (!this.#whole || !fresh(this.#whole, whole)) this.#whole = made(whole);
    const fits =
      detail !== undefined &&
      detail.run === whole.run &&
      detail.bucket_rows < whole.bucket_rows &&
      contains({ from: detail.first, to: detail.last + 1 }, view);
    if (!fits) return { whole: this.#whole.scene, detail: this.#whole.scene };
    if (!this.#detail || !fresh(this.#detail, detail)) this.#detail = made(detail);
    return { whole: this.#whole.scene, detail: this.#detail.scene };
  }
}
