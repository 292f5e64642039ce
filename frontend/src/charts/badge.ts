/** The mark of a cause or of healthy time, as in the legend. */

import { html, type TemplateResult } from "lit-html";
import { causeKind, HEALTHY } from "../catalog/causes";

/** Two letters on the colour of the family. */
export function badge(id: string): TemplateResult {
  if (id === HEALTHY) return html`<span class="badge h" aria-hidden="true"></span>`;
  const { code, family } = causeKind(id);
  return html`<span class="badge f-${family}" aria-hidden="true">${code}</span>`;
}
