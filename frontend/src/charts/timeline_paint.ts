/** Paints the timeline's canvas: epochs, stack, change points, ticks, rules and axis. */

import { count, stepTime } from "../base/format";
import { causeKind } from "../model/causes";
import { HEALTHY } from "../model/ledger";
import { logScale } from "../model/logscale";
import { axisTicks, layerLabels, MARKS, type Projection, type Scene } from "../model/scene";
import { niceTicks } from "../model/ticks";
import { type Box, linear, logarithmic, traceBand, traceLine, traceSteps } from "./lines";
import type { Theme } from "./theme";
import type { Layout, Row } from "./timeline_rows";

const HEADROOM = 14;
const LABEL_PIXELS = 16;

export interface Painting {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly scene: Scene;
  readonly projection: Projection;
  readonly layout: Layout;
  /** Unix seconds at which the run began. */
  readonly start: number;
}

/** Vertical pixel of a height in seconds a step. */
export const stackY = (row: Row, top: number, seconds: number): number =>
  row.top + row.height - (Math.min(seconds, top) / top) * (row.height - HEADROOM);

/** The labelled heights of the stack's axis. */
export const stackTicks = (top: number): number[] =>
  niceTicks(0, top, 5).filter((tick) => tick > 0);

export function paint(painting: Painting): void {
  const { context, layout, projection, theme } = painting;
  context.clearRect(0, 0, projection.width, layout.height);
  context.font = theme.font();
  context.textBaseline = "alphabetic";
  for (const row of layout.rows) {
    if (row.kind === "unmeasured") {
      context.fillStyle = theme.colour("bg-2");
      context.fillRect(0, row.top, projection.width, row.height);
    }
  }
  paintEpochs(painting);
  paintAxis(painting);
  context.fillStyle = theme.colour("line");
  for (const row of layout.rows) {
    context.fillRect(0, row.top + row.height - 1, projection.width, 1);
  }
  for (const row of layout.rows) {
    if (row.kind === "stack") paintStack(painting, row);
    else if (row.kind === "time") paintTime(painting, row);
    else if (row.kind === "lane") paintLane(painting, row);
    else if (row.kind === "marks") paintMarks(painting, row);
    else if (row.kind === "unmeasured") paintReason(painting, row);
  }
  paintChanges(painting);
}

function paintEpochs({ context, theme, scene, projection, layout }: Painting): void {
  const band = layout.rows.find((row) => row.kind === "epochs");
  if (band === undefined) return;
  const { epochs } = scene.timeline;
  let labelEnd = Number.NEGATIVE_INFINITY;
  epochs.forEach((epoch, index) => {
    const left = projection.x(epoch.row);
    const next = epochs[index + 1];
    const right =
      next === undefined ? projection.x(scene.timeline.last + 1) : projection.x(next.row);
    if (right < 0 || left > projection.width) return;
    const [x0, x1] = [Math.max(0, left), Math.min(projection.width, right)];
    if (epoch.number % 2 === 1) {
      context.fillStyle = theme.colour("bg-2");
      context.fillRect(x0, band.top, x1 - x0, band.height - 1);
    }
    if (left >= 0 && x1 - x0 >= 6) {
      context.fillStyle = theme.colour("line");
      context.fillRect(Math.round(left), 0, 1, layout.height);
    }
    const text = count(epoch.number + 1);
    const middle = (x0 + x1) / 2;
    const half = context.measureText(text).width / 2;
    if (x1 - x0 < half * 2 + 6 || middle - half < labelEnd + 6) return;
    context.fillStyle = theme.colour("text-2");
    context.textAlign = "center";
    context.fillText(text, middle, band.top + 18);
    labelEnd = middle + half;
  });
}

function paintAxis({ context, theme, projection, layout, start }: Painting): void {
  const row = layout.rows.find((one) => one.kind === "axis");
  if (row === undefined) return;
  for (const { x, text } of axisTicks(projection, start)) {
    context.fillStyle = theme.colour("line");
    context.fillRect(Math.round(x), row.top, 1, 6);
    context.fillStyle = theme.colour("text-2");
    const half = context.measureText(text).width / 2;
    context.textAlign = "center";
    const middle = Math.min(projection.width - half, Math.max(half, x));
    context.fillText(text, middle, row.top + 18);
  }
}

function paintStack({ context, theme, scene, projection }: Painting, row: Row): void {
  const y = (seconds: number): number => stackY(row, scene.top, seconds);
  context.save();
  context.beginPath();
  context.rect(0, row.top, projection.width, row.height);
  context.clip();
  context.fillStyle = theme.colour("line");
  for (const tick of stackTicks(scene.top)) {
    context.fillRect(0, Math.round(y(tick)), projection.width, 1);
  }
  const borders = scene.track.rows.map((one) => projection.x(one));
  const [first, last] = visible(borders, projection.width);
  scene.layers.forEach((layer, level) => {
    const high = scene.tops[level] as readonly number[];
    const low = scene.tops[level - 1];
    context.beginPath();
    for (let index = first; index <= last; index++) {
      const top = y(high[index] ?? 0);
      context.lineTo(borders[index] as number, top);
      context.lineTo(borders[index + 1] as number, top);
    }
    for (let index = last; index >= first; index--) {
      const floor = y(low?.[index] ?? 0);
      context.lineTo(borders[index + 1] as number, floor);
      context.lineTo(borders[index] as number, floor);
    }
    context.fillStyle = theme.fill(context, layer.id);
    context.fill();
    if (layer.id !== HEALTHY) return;
    context.beginPath();
    for (let index = first; index <= last; index++) {
      context.lineTo(borders[index] as number, y(high[index] ?? 0));
      context.lineTo(borders[index + 1] as number, y(high[index] ?? 0));
    }
    context.strokeStyle = theme.colour("healthy-edge");
    context.lineWidth = 1;
    context.stroke();
  });
  paintCut({ context, theme }, scene, borders, row, first, last);
  context.restore();
  paintNames({ context, theme }, scene, projection, row);
}

/** Buckets wholly or partly in view. */
function visible(borders: readonly number[], width: number): readonly [number, number] {
  const buckets = borders.length - 1;
  let first = borders.findIndex((x) => x > 0) - 1;
  if (first < 0) first = 0;
  let last = buckets - 1;
  while (last > first && (borders[last] as number) >= width) last--;
  return [first, last];
}

type Pen = Pick<Painting, "context" | "theme">;

/** A triangle over each bucket that is higher than the axis. */
function paintCut(
  { context, theme }: Pen,
  scene: Scene,
  borders: readonly number[],
  row: Row,
  first: number,
  last: number,
): void {
  const heights = scene.tops.at(-1) ?? [];
  let taken = Number.NEGATIVE_INFINITY;
  for (let index = first; index <= last; index++) {
    if ((heights[index] ?? 0) <= scene.top) continue;
    const x = Math.max(4, ((borders[index] as number) + (borders[index + 1] as number)) / 2);
    if (x < taken + 8) continue;
    taken = x;
    context.beginPath();
    context.moveTo(x - 4, row.top + 11);
    context.lineTo(x, row.top + 4);
    context.lineTo(x + 4, row.top + 11);
    context.closePath();
    context.fillStyle = theme.colour("text");
    context.fill();
    context.strokeStyle = theme.colour("bg");
    context.stroke();
  }
}

/** The names of the layers inside them, where they fit. */
function paintNames({ context, theme }: Pen, scene: Scene, projection: Projection, row: Row): void {
  context.font = theme.font(600);
  const healthy = scene.timeline.healthy_step_seconds;
  const names = scene.layers.map(({ id }) =>
    id !== HEALTHY ? causeKind(id).name : `Healthy, ${stepTime(healthy)}`,
  );
  const widths = names.map((name) => context.measureText(name).width + 12);
  const height = row.height - HEADROOM;
  for (const label of layerLabels(scene, projection, height, widths, LABEL_PIXELS)) {
    const id = (scene.layers[label.layer] as { id: string }).id;
    const kind = causeKind(id);
    const name = names[label.layer] as string;
    const y = stackY(row, scene.top, label.seconds);
    if (id !== HEALTHY && kind.texture !== "solid") {
      context.fillStyle = theme.colour(`f-${kind.family}`);
      const width = widths[label.layer] as number;
      context.fillRect(label.x - width / 2, y - 8, width, 16);
    }
    context.fillStyle = theme.colour(id === HEALTHY ? "text" : `on-${kind.family}`);
    context.textAlign = "center";
    context.fillText(name, label.x, y + 4);
  }
  context.font = theme.font();
}

/** One tick a mark, as tall as its seconds against the longest in view. */
function paintMarks({ context, theme, scene, projection }: Painting, row: Row): void {
  const marks = scene.timeline.marks[row.mark ?? "gc"] ?? [];
  const longest = marks.reduce((most, mark) => Math.max(most, mark.seconds), 0);
  const cause = MARKS.find((one) => one.kind === row.mark)?.cause ?? "";
  const capture = row.mark === "captures";
  context.fillStyle = theme.colour(`f-${causeKind(cause).family}`);
  context.strokeStyle = theme.colour("accent");
  for (const mark of marks) {
    const x = projection.x(mark.row + 0.5);
    if (x < -4 || x > projection.width + 4) continue;
    if (capture) {
      context.lineWidth = 2;
      context.strokeRect(Math.round(x) - 3, row.top + 4, 6, row.height - 9);
      continue;
    }
    const share = longest > 0 ? mark.seconds / longest : 1;
    const tall = Math.max(3, share * (row.height - 7));
    const bottom = row.top + row.height - 4;
    const wide = Math.min(2, Math.max(1, projection.width / 600));
    context.fillRect(x - wide / 2, bottom - tall, wide, tall);
  }
  context.lineWidth = 1;
}

/** Median of the steps of a bucket, in the band from the fastest to the slowest. */
function paintTime({ context, theme, scene, projection }: Painting, row: Row): void {
  const { low, high } = logScale(scene.timeline);
  const box = { left: 0, top: row.top, width: projection.width, height: row.height - 1 };
  const y = logarithmic(low, high, box);
  const borders = scene.track.rows.map((one) => projection.x(one));
  const { min, max, median } = scene.timeline.step_seconds;
  clip(context, box, () => {
    context.beginPath();
    traceBand(context, borders, min, max, y);
    context.fillStyle = theme.colour("bg-3");
    context.fill();
    context.beginPath();
    traceSteps(context, borders, max, y);
    context.strokeStyle = theme.colour("line-strong");
    context.lineWidth = 0.75;
    context.stroke();
    context.beginPath();
    traceSteps(context, borders, median, y);
    context.strokeStyle = theme.colour("text");
    context.lineWidth = 1.5;
    context.stroke();
  });
}

/** One signal in neutral ink: a lane shows a measurement, not a verdict. */
function paintLane({ context, theme, scene, projection }: Painting, row: Row): void {
  const lane = scene.lanes.find((one) => one.id === row.lane?.id);
  if (lane === undefined || row.lane === undefined) return;
  const box = { left: 0, top: row.top, width: projection.width, height: row.height - 1 };
  const room = { ...box, top: row.top + 5, height: row.height - 6 };
  const y = linear(row.lane.low, row.lane.high, room);
  const xs = lane.row.map((one) => projection.x(one + 0.5));
  clip(context, box, () => {
    context.beginPath();
    traceLine(context, xs, lane.value, y, y(Math.max(0, row.lane?.low ?? 0)));
    context.fillStyle = theme.colour("bg-3");
    context.fill();
    context.beginPath();
    traceLine(context, xs, lane.value, y);
    context.strokeStyle = theme.colour("text-2");
    context.lineWidth = 1.25;
    context.stroke();
  });
}

function clip(context: CanvasRenderingContext2D, box: Box, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  draw();
  context.restore();
}

function paintReason({ context, theme }: Painting, row: Row): void {
  context.fillStyle = theme.colour("text-2");
  context.textAlign = "left";
  context.fillText(`not measured: ${row.reason ?? ""}`, 12, row.top + 18);
}

/** A dashed line at each change point, a name where it does not cover another. */
function paintChanges({ context, theme, scene, projection, layout }: Painting): void {
  const stack = layout.rows.find((row) => row.kind === "stack");
  const time = layout.rows.find((row) => row.kind === "time");
  if (stack === undefined || time === undefined) return;
  const taken: [number, number][] = [];
  for (const change of scene.timeline.change_points) {
    const x = Math.round(projection.x(change.row)) + 0.5;
    if (x < 0 || x > projection.width) continue;
    context.strokeStyle = theme.colour("text");
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, stack.top);
    context.lineTo(x, time.top + time.height);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = theme.colour("text");
    context.beginPath();
    context.moveTo(x - 5, stack.top);
    context.lineTo(x + 5, stack.top);
    context.lineTo(x, stack.top + 6);
    context.fill();
    context.font = theme.font(600);
    const text = `${count(change.step)}: ${change.text}`;
    const width = context.measureText(text).width;
    const places: [number, number][] = [
      [x + 8, x + 8 + width],
      [x - 8 - width, x - 8],
    ];
    const place = places.find(
      ([low, high]) =>
        low >= 2 &&
        high <= projection.width - 2 &&
        taken.every(([a, b]) => high < a - 8 || low > b + 8),
    );
    if (place === undefined) continue;
    taken.push(place);
    context.textAlign = "left";
    context.strokeStyle = theme.colour("bg");
    context.lineWidth = 3;
    context.strokeText(text, place[0], stack.top + 26);
    context.lineWidth = 1;
    context.fillText(text, place[0], stack.top + 26);
    context.font = theme.font();
  }
  context.font = theme.font();
}
