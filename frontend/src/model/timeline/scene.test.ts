import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { atBucket, axisTicks, layerLabels, Projection, sceneOf } from "./scene";
import { trackOf } from "./track";
import { whole } from "./window";

const data = timeline(100, 10, {
  lost: { retracing: [0, 0, 0, 0, 0, 2, 2, 2, 2, 2], gc: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.001] },
  step_seconds: {
    mean: [1, 1, 1, 1, 1, 3, 3, 3, 3, 3],
    median: [1, 1, 1, 1, 1, 3, 3, 3, 3, 3],
    min: [1, 1, 1, 1, 1, 3, 3, 3, 3, 3],
    max: [1, 1, 1, 1, 1, 3, 3, 3, 3, 3],
  },
});
const scene = sceneOf(data, ["retracing", "gc"], false);

describe("layers that are chosen", () => {
  it("are drawn alone on an axis of their own, and the legend has all", () => {
    const alone = sceneOf(data, ["retracing", "gc"], false, ["retracing"]);
    expect(alone.layers.map(({ id }) => id)).toEqual(["retracing"]);
    expect(alone.legend).toEqual(scene.legend);
    expect(alone.top).toBeLessThan(scene.top);
    expect(sceneOf(data, ["retracing"], false, ["gone"]).layers).toHaveLength(2);
  });
});

describe("Projection", () => {
  it("maps rows to pixels and back on the step axis", () => {
    const projection = new Projection(scene.track, { from: 20, to: 70 }, "steps", 500);
    expect(projection.x(20)).toBe(0);
    expect(projection.x(45)).toBe(250);
    expect(projection.row(250)).toBe(45);
  });

  it("stretches slow steps on the time axis", () => {
    const uneven = timeline(4, 1, {
      time: [1, 2, 12, 13],
      step_seconds: {
        mean: [1, 1, 10, 1],
        median: [1, 1, 10, 1],
        min: [1, 1, 10, 1],
        max: [1, 1, 10, 1],
      },
    });
    const projection = new Projection(trackOf(uneven), whole(4), "time", 130);
    expect(projection.x(3) - projection.x(2)).toBeCloseTo(100, 6);
    expect(projection.row(projection.x(2.5))).toBeCloseTo(2.5, 6);
  });
});

describe("axisTicks", () => {
  it("labels round steps, not rows, of a run that began later", () => {
    const later = trackOf(timeline(100, 10, { step: data.row.map((row) => row + 7) }));
    const ticks = axisTicks(new Projection(later, whole(100), "steps", 500), 0);
    expect(ticks[0]?.text).toBe("25");
    expect(ticks[0]?.x).toBe(90);
  });

  it("labels round steps also behind a gap, and none that is missing", () => {
    const gapped = trackOf(
      timeline(100, 10, { step: data.row.map((row) => row + (row < 50 ? 0 : 256)) }),
    );
    const ticks = axisTicks(new Projection(gapped, whole(100), "steps", 1000), 0);
    expect(ticks.map(({ text }) => text)).toEqual(["0", "350"]);
    expect(ticks[1]?.x).toBe(940);
  });

  it("labels moments since the start", () => {
    const ticks = axisTicks(new Projection(scene.track, whole(100), "time", 500), 1000);
    expect(ticks[0]?.text).toBe("0:00");
    expect(ticks.every((tick) => tick.x >= 0 && tick.x <= 500)).toBe(true);
  });
});

describe("layerLabels", () => {
  it("writes a name where the layer is thick and long enough, and nowhere else", () => {
    const projection = new Projection(scene.track, whole(100), "steps", 1000);
    const labels = layerLabels(scene, projection, 180, [60, 60, 60], 16);
    expect(labels.map((label) => scene.layers[label.layer]?.id)).toEqual(["healthy", "retracing"]);
    expect(labels[1]?.x).toBe(750);
    expect(labels[1]?.seconds).toBeCloseTo(2, 9);
  });
});

describe("atBucket", () => {
  it("names what costs something there, the most first, healthy last", () => {
    expect(atBucket(scene, 9)).toEqual([
      { id: "retracing", seconds: 2 },
      { id: "gc", seconds: 0.001 },
      { id: "healthy", seconds: 1 },
    ]);
  });
});
