/*
 * expression_feelin.mjs: our FEEL and npm's feelin on the same expressions and payload, in one run.
 *
 *   ninja -C build/release expression_spike
 *   mkdir -p /tmp/feelin && npm install --prefix /tmp/feelin feelin
 *   node perf/expression_feelin.mjs build/release/perf/expression_spike /tmp/feelin
 *
 * feelin's public interface parses an expression each time it is evaluated; ours compiles once. So
 * ours is shown with and without compiling. Rounds of the two take turns; the best of each counts.
 */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [spike, folder] = process.argv.slice(2);
const { evaluate } = await import(pathToFileURL(resolve(folder, "node_modules/feelin/dist/index.js")));
const rounds = 5;
const { context, expressions } = JSON.parse(execFileSync(spike, ["--cases"], { encoding: "utf8" }));

/* [evaluated, compiled and evaluated] for each expression. */
function ours() {
  const lines = execFileSync(spike, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return lines.trim().split("\n").map((line) => line.trim().split(/ ns +/).slice(0, 2).map(Number));
}

/* Nanoseconds of one call, over about 50 ms. */
function time(call) {
  let turns = 16;
  for (;;) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < turns; i++) {
      call();
    }
    const ns = Number(process.hrtime.bigint() - begin);
    if (ns > 5e7) {
      return ns / turns;
    }
    turns *= 2;
  }
}

const best = expressions.map(() => [Infinity, Infinity, Infinity]);
for (let round = 0; round < rounds; round++) {
  const found = ours();
  expressions.forEach((expression, i) => {
    const theirs = time(() => evaluate(expression, context));
    best[i] = [...found[i], theirs].map((ns, column) => Math.min(ns, best[i][column]));
  });
}
console.log("  evaluate    + compile       feelin   times faster");
expressions.forEach((expression, i) => {
  const columns = best[i].map((ns) => `${ns.toFixed(0).padStart(7)} ns`);
  const [warm, cold, theirs] = best[i];
  const times = `${(theirs / warm).toFixed(0).padStart(5)} (${(theirs / cold).toFixed(0)})`;
  console.log(`${columns.join("   ")}   ${times.padEnd(12)}  ${expression}`);
});
