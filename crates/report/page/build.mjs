// Bundles the page: dist/page.js, dist/page.css, and the hashes of both for the page's content security policy.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
const options = { bundle: true, minify: true, charset: "utf8", legalComments: "none", target: "es2022", write: false, absWorkingDir: here };
const bundle = async (entry, more) => (await build({ ...options, entryPoints: [entry], ...more })).outputFiles[0].text.trimEnd();
// A script or style in a page ends where its closing tag stands, whatever is around it.
const safe = (text) => { if (/<\/(script|style)|<!--/i.test(text)) throw new Error("the bundle would end its own element"); return text; };
const script = safe(await bundle("src/main.ts", { format: "iife" }));
const style = safe(await bundle("src/page.css", {}));
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "page.js"), script);
writeFileSync(join(out, "page.css"), style);
writeFileSync(join(out, "policy.txt"), `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`);
