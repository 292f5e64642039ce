/** A custom element that is one canvas: sharp on every screen, drawn anew when it must. */

import { Theme } from "./theme";

export abstract class CanvasElement extends HTMLElement {
  readonly #canvas = document.createElement("canvas");
  readonly #observer = new ResizeObserver(() => this.redraw());
  #pending = false;

  connectedCallback(): void {
    if (this.#canvas.parentNode !== this) this.append(this.#canvas);
    this.#observer.observe(this);
    document.addEventListener("slowdown-theme", this.redraw);
    document.addEventListener("slowdown-draw", this.drawNow);
    this.redraw();
  }

  disconnectedCallback(): void {
    this.#observer.disconnect();
    document.removeEventListener("slowdown-theme", this.redraw);
    document.removeEventListener("slowdown-draw", this.drawNow);
  }

  /** Draws before the next frame, once however often it is asked. */
  readonly redraw = (): void => {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      if (this.isConnected) this.drawNow();
    });
  };

  /** Before the event is over: paper does not wait for the next frame. */
  readonly drawNow = (): void => {
    const context = sharpContext(this.#canvas, this.clientWidth, this.clientHeight);
    if (context === null) return;
    this.draw(context, this.clientWidth, this.clientHeight, new Theme(this));
  };

  /** Sizes are CSS pixels. */
  protected abstract draw(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    theme: Theme,
  ): void;
}

/** Gives a canvas the device pixels of its size in CSS pixels; null where there is nothing to see. */
export function sharpContext(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const context = canvas.getContext("2d");
  if (context === null || width <= 0 || height <= 0) return null;
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** Registers an element once: TensorBoard may import the module again. */
export function define(name: string, element: CustomElementConstructor): void {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}
