import { describe, expect, it } from "vitest";
import { SvgContext } from "./svg_context";

const measure = { font: "", measureText: () => ({ width: 7 }) };
const made = (): SvgContext =>
  new SvgContext(measure as unknown as CanvasRenderingContext2D, () => "data:,");

/** The shapes of a picture. */
const shapes = (svg: SvgContext): string[] =>
  [...svg.text(100, 50, "#fff").matchAll(/<(?:path|rect|text|g|clipPath)[^>]*>/g)].map(
    ([tag]) => tag,
  );

describe("SVG in place of a canvas", () => {
  it("has paths, boxes and dashes", () => {
    const svg = made();
    svg.strokeStyle = "#123456";
    svg.setLineDash([3, 3]);
    svg.beginPath();
    svg.moveTo(1, 2);
    svg.lineTo(3.456, 4);
    svg.stroke();
    svg.fillStyle = "red";
    svg.fillRect(0, 1, -2, 3);
    expect(shapes(svg).slice(1)).toEqual([
      '<path d="M1 2L3.46 4" fill="none" stroke="#123456" stroke-width="1" stroke-dasharray="3 3"/>',
      '<rect x="0" y="1" width="0" height="3" fill="red"/>',
    ]);
  });

  it("keeps the pen and the clip over save and restore", () => {
    const svg = made();
    svg.save();
    svg.beginPath();
    svg.rect(0, 0, 5, 5);
    svg.clip();
    svg.globalAlpha = 0.5;
    svg.fillRect(0, 0, 9, 9);
    svg.restore();
    svg.fillRect(0, 0, 9, 9);
    const [, , clipped, free] = shapes(svg).filter((tag) => tag !== '<path d="M0 0h5v5h-5z"/>');
    expect(clipped).toContain('opacity="0.5" clip-path="url(#c0)"');
    expect(free).not.toContain("clip-path");
  });

  it("writes names as text, whatever they are", () => {
    const svg = made();
    svg.textAlign = "center";
    svg.font = '11px "A&B"';
    svg.fillText("<script>", 1, 2);
    svg.shift(10, 20);
    const text = svg.text(100, 50, "#fff");
    expect(text).toContain("&#60;script&#62;</text>");
    expect(text).toContain('text-anchor="middle" style="font:11px &#34;A&#38;B&#34;"');
    expect(text).toContain('<g transform="translate(10 20)"><text');
    expect(text.endsWith("</g></svg>")).toBe(true);
  });
});
