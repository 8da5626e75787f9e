// Runs the program of the playground under Node: node tools/node/playground.mjs FOLDER, of the page and its packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const read = (...names) => readFileSync(join(folder, ...names));

try {
  const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide", "pyodide.mjs")));
  const packages = JSON.parse(read("packages.json"));
  const python = await loadPyodide();
  for (const wheel of packages.wheels) python.unpackArchive(new Uint8Array(read("wheels", wheel)), "wheel");
  const reply = JSON.parse(python.runPython(
    "import json, discreet, flint\n" +
    "json.dumps({'version': discreet.__version__, 'e': str(flint.arb(1).exp())})",
  ));
  if (packages.missing.length === 0) {
    python.FS.writeFile("/home/pyodide/playground.py", read("playground.py"));
    const program = python.pyimport("playground");
    const question = ["drink\ntea\ntea\ncoffee\n", "drink", "tea, coffee, water", "1"];
    reply.distribution = JSON.parse(program.distribution(...question));
    reply.answer = JSON.parse(program.answer(...question));
    reply.attack = JSON.parse(program.attack());
  }
  console.log(JSON.stringify(reply));
} catch (error) {
  console.error(String(error.message ?? error).slice(-2000)); // the whole of it shows the source of Pyodide
  process.exitCode = 1;
}
