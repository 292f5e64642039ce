import { beforeEach, describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { Projection, sceneOf } from "../../model/timeline/scene";
import type { Window } from "../../model/timeline/window";
import { type Handled, Interactions } from "./interactions";

const scene = sceneOf(timeline(1000, 10), [], false);

/** A timeline of 1,000 rows, 500 pixels wide, that does what it is asked. */
class Fake implements Handled {
  view: Window = { from: 0, to: 1000 };
  selection: Window | undefined;
  cursor: number | undefined;
  spoken = 0;
  jumps: number[] = [];
  jumpedFrom: number[] = [];
  points: unknown[] = [];

  get input() {
    return {
      whole: scene,
      detail: scene,
      view: this.view,
      selection: this.selection,
      axis: "steps" as const,
      allLanes: false,
      captures: [],
    };
  }

  get projection(): Projection {
    return new Projection(scene.track, this.view, "steps", 500);
  }

  place(speak: boolean): void {
    if (speak) this.spoken++;
  }

  leave(): void {
    this.cursor = undefined;
  }

  ask(event: CustomEvent): void {
    if (event.type === "sd-view") this.view = event.detail;
    if (event.type === "sd-select") this.selection = event.detail ?? undefined;
    if (event.type === "sd-point") this.points.push(event.detail);
    if (event.type === "sd-jump") {
      this.jumps.push(event.detail.direction);
      this.jumpedFrom.push(event.detail.cursor);
    }
  }
}

let fake: Fake;
let plot: HTMLElement;

beforeEach(() => {
  fake = new Fake();
  plot = document.createElement("div");
  plot.setPointerCapture = () => undefined;
  new Interactions(fake, plot, plot);
});

const key = (name: string, more: KeyboardEventInit = {}): boolean =>
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true, ...more }));
const pointer = (type: string, x: number): boolean =>
  plot.dispatchEvent(new PointerEvent(type, { clientX: x, button: 0 }));

describe("keys", () => {
  it("move the cursor by one bucket and say where it is", () => {
    fake.cursor = 100;
    key("ArrowRight");
    expect(fake.cursor).toBe(110);
    key("ArrowLeft");
    expect(fake.cursor).toBe(100);
    key("End");
    expect(fake.cursor).toBe(999);
    expect(fake.spoken).toBe(3);
  });

  it("extend the selection from where Shift was first held", () => {
    fake.cursor = 100;
    key("ArrowRight", { shiftKey: true });
    key("ArrowRight", { shiftKey: true });
    expect(fake.selection).toEqual({ from: 100, to: 121 });
    key("Escape");
    expect(fake.selection).toBeUndefined();
  });

  it("zoom around the cursor, to the selection and back to the whole run", () => {
    fake.cursor = 500;
    key("+");
    expect(fake.view).toEqual({ from: 250, to: 750 });
    fake.selection = { from: 300, to: 400 };
    key("z");
    expect(fake.view).toEqual({ from: 300, to: 400 });
    key("0");
    expect(fake.view).toEqual({ from: 0, to: 1000 });
  });

  it("take the view along when the cursor leaves it", () => {
    fake.view = { from: 100, to: 200 };
    fake.cursor = 195;
    key("ArrowRight");
    expect(fake.view).toEqual({ from: 106, to: 206 });
  });

  it("go from change point to change point", () => {
    key("]");
    key("[");
    expect(fake.jumps).toEqual([1, -1]);
  });

  it("begin with the first change point until the cursor was put somewhere", () => {
    fake.cursor = 500; // the middle, where it stands when the timeline gets the focus
    key("]");
    key("Home");
    key("]");
    expect(fake.jumpedFrom).toEqual([-1, 0]);
  });

  it("leave the browser's own keys alone", () => {
    expect(key("0", { ctrlKey: true })).toBe(true);
    expect(key("Tab")).toBe(true);
    expect(key("ArrowRight")).toBe(false);
  });
});

describe("pointer", () => {
  it("selects what is dragged over, and nothing by a mere click", () => {
    pointer("pointerdown", 100);
    pointer("pointermove", 101);
    pointer("pointerup", 101);
    expect(fake.selection).toBeUndefined();
    pointer("pointerdown", 100);
    pointer("pointermove", 150);
    pointer("pointerup", 150);
    expect(fake.selection).toEqual({ from: 200, to: 301 });
    expect(fake.cursor).toBe(300);
  });

  it("zooms to the selection on a double click, to the whole run without one", () => {
    fake.selection = { from: 200, to: 300 };
    plot.dispatchEvent(new MouseEvent("dblclick"));
    expect(fake.view).toEqual({ from: 200, to: 300 });
    fake.selection = undefined;
    plot.dispatchEvent(new MouseEvent("dblclick"));
    expect(fake.view).toEqual({ from: 0, to: 1000 });
  });
});

describe("keys of Perfetto", () => {
  it("zoom, pan, fit the selection, and mark what is in view", () => {
    fake.cursor = 500;
    key("w");
    expect(fake.view).toEqual({ from: 250, to: 750 });
    key("d");
    expect(fake.view).toEqual({ from: 375, to: 875 });
    key("A");
    key("m");
    expect(fake.selection).toEqual({ from: 250, to: 750 });
    key("s");
    expect(fake.view).toEqual({ from: 0, to: 1000 });
    key("f");
    expect(fake.view).toEqual({ from: 250, to: 750 });
  });
});

describe("wheel", () => {
  const wheel = (more: WheelEventInit): boolean =>
    plot.dispatchEvent(
      Object.assign(new Event("wheel", { cancelable: true }), { deltaX: 0, clientX: 250, ...more }),
    );

  it("scrolls the page by itself, zooms with Ctrl and pans with Shift", () => {
    expect(wheel({ deltaY: 100 })).toBe(true);
    expect(fake.view).toEqual({ from: 0, to: 1000 });
    wheel({ deltaY: -100, ctrlKey: true });
    expect(fake.view).toEqual({ from: 100, to: 900 });
    wheel({ deltaY: 100, shiftKey: true });
    expect(fake.view).toEqual({ from: 180, to: 980 });
  });
});

describe("pointing at steps", () => {
  it("is a click, and means the bucket that is drawn there", () => {
    pointer("pointerdown", 101);
    pointer("pointerup", 101);
    expect(fake.points).toEqual([{ rows: { from: 200, to: 210 }, within: 12 }]);
    expect(fake.selection).toBeUndefined();
  });
  it("is no drag", () => {
    pointer("pointerdown", 100);
    pointer("pointermove", 150);
    pointer("pointerup", 150);
    expect(fake.points).toEqual([]);
  });
  it("is Enter, which reaches as far as it has to", () => {
    fake.cursor = 305;
    key("Enter");
    expect(fake.points).toEqual([
      { rows: { from: 300, to: 310 }, within: Number.POSITIVE_INFINITY },
    ]);
  });
});
