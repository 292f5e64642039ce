import { defineConfig, type Plugin } from "vite";
import { fixtures } from "./dev/fixtures.ts";

// TensorBoard imports one ES module, `index.js`, which fetches `below.js` beside it once the first
// screen is there; its content security policy allows neither workers from blobs nor other origins.
// A report in one file has no server to ask: `--mode report` builds `report.js` with both in it.
/** A blank between the parts of a table shows nothing. */
const TABLE_BLANKS = /(<\/?t(?:able|head|body|foot|r|h|d)\b[^>`]*>) (?=<\/?t)/g;

/** Indentation is left in templates only, where a browser shows it as one blank. */
const unindented: Plugin = {
  name: "unindented",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type === "chunk") {
        chunk.code = chunk.code.replace(/\n {2,}/g, " ").replace(TABLE_BLANKS, "$1");
      }
    }
  },
};

export default defineConfig(({ mode }) => ({
  plugins: [fixtures(), unindented],
  build: {
    lib: {
      entry: "src/main.ts",
      formats: ["es"],
      fileName: () => (mode === "report" ? "report.js" : "index.js"),
    },
    outDir: "dist",
    emptyOutDir: mode !== "report",
    target: "es2022",
    // These know `color-scheme`: nothing stands in for it.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    minify: true,
    rolldownOptions: {
      preserveEntrySignatures: "allow-extension", // what both modules use is in the first one
      output: { minify: true, codeSplitting: mode !== "report", chunkFileNames: "[name].js" },
    },
    reportCompressedSize: false,
  },
}));
