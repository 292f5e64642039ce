import { defineConfig, type Plugin } from "vite";
import { fixtures } from "./dev/fixtures.ts";

// One ES module with everything inside: TensorBoard imports a single file, and
// its content security policy allows neither workers from blobs nor other origins.
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

export default defineConfig({
  plugins: [fixtures(), unindented],
  build: {
    lib: { entry: "src/main.ts", formats: ["es"], fileName: () => "index.js" },
    outDir: "dist",
    target: "es2022",
    // These know `color-scheme`: nothing stands in for it.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    minify: true,
    rolldownOptions: { output: { minify: true, codeSplitting: false } },
    reportCompressedSize: false,
  },
});
