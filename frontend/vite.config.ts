import { defineConfig } from "vite";
import { fixtures } from "./dev/fixtures.ts";

// One ES module with everything inside: TensorBoard imports a single file, and
// its content security policy allows neither workers from blobs nor other origins.
export default defineConfig({
  plugins: [fixtures()],
  build: {
    lib: { entry: "src/main.ts", formats: ["es"], fileName: () => "index.js" },
    outDir: "dist",
    target: "es2022",
    minify: true,
    rolldownOptions: { output: { minify: true, codeSplitting: false } },
    reportCompressedSize: false,
  },
});
