/** Tells a screen reader where the cursor is, at most twice a second. */

import { stepTime } from "../../base/format";
import { HEALTHY, nameInText } from "../../catalog/causes";
import { atBucket, notesAt, type Scene } from "../../model/timeline/scene";

const MILLISECONDS = 500;

export class Announcer {
  readonly element = document.createElement("div");
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.element.className = "vh";
    this.element.setAttribute("aria-live", "polite");
  }

  /** Of several places in quick succession only the last is said. */
  say(scene: Scene, bucket: number, steps: string): void {
    clearTimeout(this.#timer);
    const wait = Math.max(0, this.#last + MILLISECONDS - performance.now());
    this.#timer = setTimeout(() => {
      this.#last = performance.now();
      this.element.textContent = sentence(scene, bucket, steps);
    }, wait);
  }

  silence(): void {
    clearTimeout(this.#timer);
  }
}

function sentence(scene: Scene, bucket: number, steps: string): string {
  const mean = stepTime(scene.timeline.step_seconds.mean[bucket]);
  const largest = atBucket(scene, bucket).find((line) => line.id !== HEALTHY);
  const lost =
    largest === undefined ? "" : `, ${stepTime(largest.seconds)} of it ${nameInText(largest.id)}`;
  const notes = notesAt(scene, bucket).map((text) => `. Note: ${text}`);
  return `Steps ${steps}: ${mean} per step${lost}${notes.join("")}`;
}
