/** The timeline as files: what is drawn as a picture, or in lines, and its table as CSV. */

import { SvgContext } from "./canvas/svg_context";
import type { TimelineElement } from "./timeline/timeline_element";

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The table around a button, as it is shown; numbers keep their units. */
export function csv({ currentTarget }: Event, run: string): void {
  const rows = [...((currentTarget as Element).closest("table")?.rows ?? [])];
  const text = rows
    .map((row) =>
      [...row.cells]
        .map((cell) => (cell.dataset.csv ?? cell.innerText.trim()).replaceAll('"', '""'))
        .map((value) => `"${value}"`)
        .join(","),
    )
    .join("\n");
  save(new Blob([text], { type: "text/csv" }), `${run.replace(/[^\w.-]+/g, "_")}.csv`);
}

/** The timeline with the names of its rows. */
export function picture(): void {
  const timeline = document.querySelector("sd-timeline");
  const drawn = timeline?.querySelector("canvas");
  if (!timeline || !drawn) return;
  const box = timeline.getBoundingClientRect();
  const ratio = drawn.width / drawn.clientWidth;
  const canvas = document.createElement("canvas");
  canvas.width = box.width * ratio;
  canvas.height = box.height * ratio;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const { backgroundColor, color } = getComputedStyle(document.body);
  context.scale(ratio, ratio);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, box.width, box.height);
  const { left, top } = drawn.getBoundingClientRect();
  context.drawImage(drawn, left - box.left, top - box.top, drawn.clientWidth, drawn.clientHeight);
  names(context, timeline, color);
  canvas.toBlob((content) => content && save(content, "timeline.png"));
}

/** The same in lines and letters, which stay sharp at any size and can be changed. */
export function drawing(): void {
  const timeline = document.querySelector<TimelineElement>("sd-timeline");
  const canvas = timeline?.querySelector("canvas");
  const letters = document.createElement("canvas").getContext("2d");
  if (!timeline || !canvas || !letters) return;
  const svg = new SvgContext(letters, (pattern) => timeline.tile(pattern));
  const context = svg as unknown as CanvasRenderingContext2D;
  const [box, drawn] = [timeline.getBoundingClientRect(), canvas.getBoundingClientRect()];
  const { backgroundColor, color } = getComputedStyle(document.body);
  timeline.paintOn(context);
  svg.shift(drawn.left - box.left, drawn.top - box.top);
  names(context, timeline, color);
  const text = svg.text(box.width, box.height, backgroundColor);
  save(new Blob([text], { type: "image/svg+xml" }), "timeline.svg");
}

/** The names of the rows, where the page has them. */
function names(context: CanvasRenderingContext2D, timeline: Element, color: string): void {
  const box = timeline.getBoundingClientRect();
  context.fillStyle = color;
  context.textAlign = "left";
  for (const label of timeline.querySelectorAll<HTMLElement>(
    ".g b, .g .n, .g div > .s, .y span, .legend button",
  )) {
    const place = label.getBoundingClientRect();
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(label);
    context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    // Without the code of a cause, which stands before its name.
    let text = (label.lastChild?.textContent ?? "").trim();
    while (
      text.length > 2 &&
      label.scrollWidth > label.clientWidth &&
      context.measureText(text).width > place.width
    ) {
      text = `${text.slice(0, -2)}…`;
    }
    context.fillText(text, place.left - box.left, place.bottom - box.top - 4);
  }
}
