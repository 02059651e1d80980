/*
 * story_test.mjs: how the replay page tells what a step changed. No browser: story.js has no DOM.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const source = readFileSync(new URL("../../tools/strider/replay/page/story.js", import.meta.url), "utf8");
const Story = vm.runInNewContext(`${source}; Story`);
/* Values of the other context have other prototypes. */
const plain = (value) => value === undefined ? undefined : JSON.parse(JSON.stringify(value));

const step = (sequence, snapshot, more = {}) => ({ sequence, taskId: `t${sequence}`, at: "2026-01-01T00:00:00.000Z", snapshot, ...more });
const changesOf = (...snapshots) => {
  const story = Story.make({ steps: snapshots.map((snapshot, index) => step(index + 1, snapshot)) });
  return plain(story.changes(snapshots.length - 1));
};

test("the first snapshot is compared with nothing", () => {
  assert.equal(changesOf({ request: { a: 1 } }), null);
});

test("what is added, changed and removed is told by its path", () => {
  const { than, list, cut } = changesOf({ execution: { a: 1, gone: true } }, { execution: { a: 2, fresh: [1] } });
  assert.equal(than, 1);
  assert.equal(cut, false);
  assert.deepEqual(list, [
    { kind: "changed", path: "execution.a", before: 1, after: 2 },
    { kind: "removed", path: "execution.gone", before: true },
    { kind: "added", path: "execution.fresh", after: [1] },
  ]);
});

test("members of lists are compared one by one", () => {
  const { list } = changesOf({ execution: { items: [{ price: 1 }, 2] } }, { execution: { items: [{ price: 3 }, 2, 4] } });
  assert.deepEqual(list, [{ kind: "changed", path: "execution.items[0].price", before: 1, after: 3 }, { kind: "added", path: "execution.items[2]", after: 4 }]);
});

test("another kind of value is one change", () => {
  assert.deepEqual(changesOf({ execution: { a: [1] } }, { execution: { a: { b: 1 } } }).list, [{ kind: "changed", path: "execution.a", before: [1], after: { b: 1 } }]);
  assert.deepEqual(changesOf({ execution: { a: null } }, { execution: { a: 0 } }).list, [{ kind: "changed", path: "execution.a", before: null, after: 0 }]);
});

test("names that are no words stand in brackets, names of the language are plain names", () => {
  const hostile = Story.parse('{"execution": {"a b": 1, "__proto__": {"x": 1}, "constructor": 2}}');
  const paths = changesOf({ execution: {} }, hostile).list.map((one) => one.path);
  assert.deepEqual(paths, ['execution["a b"]', "execution.__proto__", "execution.constructor"]);
  assert.equal({}.x, undefined);
});

test("what is no payload is no change", () => {
  assert.deepEqual(changesOf({ request: {}, updatedAt: "a", tokens: [] }, { request: {}, updatedAt: "b", tokens: [1] }).list, []);
});

test("more changes than can be shown are cut, and it says so", () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, index]));
  const { list, cut } = changesOf({ execution: {} }, { execution: many });
  assert.equal(list.length, 200);
  assert.equal(cut, true);
});

test("a step is compared with the snapshot that was made before its own, not with the step before", () => {
  const story = Story.make({ steps: [step(1, { eventSequence: 1, execution: {} }), step(2, { eventSequence: 9, execution: { a: 1, b: 1 } }), step(3, { eventSequence: 5, execution: { a: 1 } })] });
  assert.deepEqual(plain(story.changes(1)).list.map((one) => one.path), ["execution.b"]);
  assert.equal(story.changes(1).than, 3);
  assert.equal(story.changes(2).than, 1);
});

test("steps that are read again are compared anew", () => {
  const first = step(1, { execution: {} }), second = step(2, undefined, { missing: "underWay" }), third = step(3, { execution: { a: 1, b: 1 } });
  assert.equal(plain(Story.make({ steps: [first, second, third] }).changes(2)).list.length, 2);
  const settled = step(2, { execution: { a: 1 } });
  const story = Story.make({ steps: [first, settled, third] });
  assert.deepEqual(plain(story.changes(2)).list.map((one) => one.path), ["execution.b"]);
});

test("a snapshot without payloads is compared with nothing", () => {
  assert.equal(changesOf({ execution: {} }, { payloadsLeftOut: true }), null);
});

test("visits count nodes and flows up to a step", () => {
  const story = Story.make({ steps: [step(1, {}, { taskId: "a" }), step(2, {}, { taskId: "b", flow: "f" }), step(3, {}, { taskId: "a", flow: "g" })] });
  const { nodes, flows } = story.visits(1);
  assert.deepEqual(plain([...nodes]), [["a", 1], ["b", 1]]);
  assert.deepEqual(plain([...flows]), ["f"]);
  assert.equal(story.visits(2).nodes.get("a"), 2);
});

test("steps and tokens of a called process are its own, and its version is known by its scope", () => {
  const scopes = [{ id: 2, parent: 1, process: "inner", version: 3 }, { id: 3, parent: 2 }];
  const tokens = [{ id: 1, taskId: "call" }, { id: 2, taskId: "a", scope: 2 }, { id: 3, taskId: "deep", scope: 3 }];
  const story = Story.make({ process: "outer", version: 1, steps: [step(1, {}, { taskId: "a" }), step(2, {}, { taskId: "call", flow: "f" }),
    step(3, { tokens, scopes }, { taskId: "a", process: "inner", flow: "f" })] });
  assert.deepEqual(plain([...story.versions]), [["outer", 1], ["inner", 3]]);
  assert.deepEqual(plain([...story.visits(2).nodes]), [["a", 1], ["call", 1]]);
  assert.deepEqual(plain([...story.visits(2, "inner").nodes]), [["a", 1]]);
  assert.deepEqual(plain([...story.visits(1, "inner").flows]), []);
  assert.deepEqual(plain(story.frames[2].tokens.map((token) => token.process)), ["outer", "inner", "inner"]);
});
