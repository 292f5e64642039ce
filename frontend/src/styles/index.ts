/** The style sheets of the page, as one text for one style element. */

import base from "./base.css?inline";
import catalog from "./catalog.css?inline";
import causes from "./causes.css?inline";
import controls from "./controls.css?inline";
import frame from "./frame.css?inline";
import narrow from "./narrow.css?inline";
import panels from "./panels.css?inline";
import print from "./print.css?inline";
import runs from "./runs.css?inline";
import tables from "./tables.css?inline";
import timeline from "./timeline.css?inline";
import tokens from "./tokens.css?inline";
import verdict from "./verdict.css?inline";

/** Later sheets may refine earlier ones. */
export const STYLES = [
  tokens,
  catalog,
  base,
  controls,
  frame,
  verdict,
  causes,
  tables,
  runs,
  timeline,
  panels,
  narrow,
  print,
].join("\n");
