import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { sceneOf } from "../../model/timeline/scene";
import { layoutOf, rowOfKind } from "./rows";

const NINE =
  "retracing disk callbacks thermal profiling host_memory gpu_memory warm_up backward_pass";

describe("the stack", () => {
  const height = (causes: readonly string[]): number => {
    const lost = Object.fromEntries(causes.map((cause) => [cause, [1, 2]]));
    const scene = sceneOf(timeline(40, 20, { lost }), causes, false);
    return rowOfKind(layoutOf(scene, false, 0), "stack").height;
  };

  it("is high enough to name each of nine causes beside it", () => {
    expect(height(["retracing"])).toBe(220);
    expect(height(NINE.split(" "))).toBe(220 + 3 * 24); // and Healthy
  });
});
