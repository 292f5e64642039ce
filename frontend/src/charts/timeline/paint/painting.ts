/** What the painters of the timeline's rows are given, and text that stays readable over bars. */

import type { CaptureSpan } from "../../../model/captures";
import type { Projection, Scene } from "../../../model/timeline/scene";
import type { Theme } from "../../canvas/theme";
import type { Layout } from "../rows";

export interface Painting {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly scene: Scene;
  readonly projection: Projection;
  readonly layout: Layout;
  readonly captures: readonly CaptureSpan[];
  /** Unix seconds at which the run began. */
  readonly start: number;
}

/** Text with a rim in the colour of the page, readable over bars and hiding little of them. */
export function haloed(
  context: CanvasRenderingContext2D,
  theme: Theme,
  text: string,
  left: number,
  y: number,
): void {
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = theme.colour("bg");
  context.strokeText(text, left, y);
  context.lineWidth = 1;
  context.fillStyle = theme.colour("text");
  context.fillText(text, left, y);
}
