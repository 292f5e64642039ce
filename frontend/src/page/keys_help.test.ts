import { describe, expect, it } from "vitest";
import { timeline } from "../../tests/make";
import { type Handled, Interactions } from "../charts/timeline/interactions";
import { Projection, sceneOf } from "../model/timeline/scene";
import { TIMELINE } from "./keys_help";

/** Every key of a keyboard that types something, and those that go somewhere. */
const KEYS = [
  ...Array.from({ length: 94 }, (_, place) => String.fromCharCode(33 + place)),
  ...["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"],
  ...["Enter", "Escape", "Tab", "Backspace", "Delete", "F1", " "],
];
/** "=" is "+" without Shift. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ ArrowLeft: "\u2190", ArrowRight: "\u2192", Escape: "Esc", "-": "\u2212", "=": "+" },
};

/** The keys that the timeline takes for itself. */
function working(): Set<string> {
  const scene = sceneOf(timeline(1000, 10), [], false);
  const view = { from: 0, to: 1000 };
  const handled = {
    input: { whole: scene, detail: scene, view, selection: undefined, axis: "steps" },
    projection: new Projection(scene.track, view, "steps", 500),
    ...{ cursor: 0, place: () => undefined, leave: () => undefined, ask: () => undefined },
  } as unknown as Handled;
  const box = document.createElement("div");
  new Interactions(handled, box, box);
  const taken = KEYS.filter(
    (key) => !box.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true })),
  );
  return new Set(taken.map((key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key)));
}

describe("the list of keys", () => {
  it("names every key that works in the timeline, and no other", () => {
    const named = TIMELINE.flatMap(([keys]) => keys.replaceAll(",", "").split(" "));
    const gestures = new Set(["Drag", "Ctrl", "Shift", "wheel", "double", "click", "Click"]);
    const words = new Set(["in", "the", "legend"]);
    const keys = named.filter((one) => !gestures.has(one) && !words.has(one));
    expect(new Set(keys)).toEqual(working());
  });
});
