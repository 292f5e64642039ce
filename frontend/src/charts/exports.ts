/** The timeline as files: what is drawn as a picture, and its table as CSV. */

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
    .map((row) => [...row.cells].map((cell) => `"${cell.innerText.trim()}"`).join(","))
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
  const { backgroundColor, color, font } = getComputedStyle(document.body);
  context.scale(ratio, ratio);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, box.width, box.height);
  const { left, top } = drawn.getBoundingClientRect();
  context.drawImage(drawn, left - box.left, top - box.top, drawn.clientWidth, drawn.clientHeight);
  context.fillStyle = color;
  context.font = font;
  for (const label of timeline.querySelectorAll<HTMLElement>(
    ".g b, .g .n, .g .s, .y span, .legend button",
  )) {
    const place = label.getBoundingClientRect();
    context.fillText(label.innerText, place.left - box.left, place.bottom - box.top - 4);
  }
  canvas.toBlob((content) => content && save(content, "timeline.png"));
}
