/*
 * story.js: what happened, from the steps as the engine tells them: frames in the order of their numbers, what each changed,
 * where tokens were. No DOM.
 */
const Story = (() => {
  "use strict";
  const PAYLOADS = ["request", "response", "context", "module", "execution", "nodes", "output", "__resume", "conversationHistories"];
  const CHANGES_MAX = 200;

  /* A number that JavaScript cannot hold keeps its digits. */
  class Digits {
    constructor(text) { this.text = text; }
    toJSON() { return this.text; }
  }
  function parse(text) {
    return JSON.parse(text, (key, value, context) =>
      typeof value === "number" && context && context.source && String(value) !== context.source &&
        !/^-?\d+\.?\d*0$/.test(context.source) ? new Digits(context.source) : value);
  }

  const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Digits);
  const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
  const memberPath = (path, key) => /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

  function compare(path, before, after, out) {
    if (out.length > CHANGES_MAX || same(before, after)) return;
    if (before === undefined) out.push({ kind: "added", path, after });
    else if (after === undefined) out.push({ kind: "removed", path, before });
    else if (isMap(before) && isMap(after)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
        compare(memberPath(path, key), own(before, key), own(after, key), out);
      }
    } else if (Array.isArray(before) && Array.isArray(after)) {
      for (let i = 0; i < Math.max(before.length, after.length); i++) compare(`${path}[${i}]`, before[i], after[i], out);
    } else out.push({ kind: "changed", path, before, after });
  }
  const own = (map, key) => Object.prototype.hasOwnProperty.call(map, key) ? map[key] : undefined;

  function changes(before, after) {
    const out = [];
    for (const name of PAYLOADS) compare(name, own(before, name), own(after, name), out);
    return out;
  }

  function payloads(snapshot) {
    const out = {};
    for (const name of PAYLOADS) if (own(snapshot, name) !== undefined) out[name] = snapshot[name];
    return out;
  }

  /* Branches overlap: a step is compared with the snapshot that was made before its own. */
  function chain(steps) {
    const made = steps.filter((step) => step.snapshot && !step.snapshot.payloadsLeftOut);
    made.sort((a, b) => (a.snapshot.eventSequence ?? a.sequence) - (b.snapshot.eventSequence ?? b.sequence) || a.sequence - b.sequence);
    made.forEach((step, index) => {
      const before = index > 0 ? made[index - 1] : null;
      if (step.before !== before) step.changes = undefined;
      step.before = before;
    });
  }

  const time = (text) => text ? Date.parse(text) : NaN;

  /* The process that a token is in: its scope's, or that of the nearest scope around it which is a call. */
  function processOf(token, scopes, main) {
    for (let scope = scopes.find((one) => one.id === token.scope); scope; scope = scopes.find((one) => one.id === scope.parent)) if (scope.process) return scope.process;
    return main;
  }

  function frame(step, main) {
    const snapshot = step.snapshot;
    const work = snapshot?.work ?? {};
    return {
      step, sequence: step.sequence, task: step.taskId ?? "?", at: time(step.at), flow: step.flow, snapshot,
      missing: step.missing, process: step.process ?? main,
      attempts: work.attempts ?? 0, retries: work.retries ?? 0, instance: work.instance,
      moduleMs: work.calledAt && work.answeredAt ? time(work.answeredAt) - time(work.calledAt) : null,
      error: snapshot?.errorCode ? { code: snapshot.errorCode, message: snapshot.errorMessage, task: snapshot.errorTaskId, passing: snapshot.errorCode === "TRANSIENT_FAILURE" } : null,
      tokens: (snapshot?.tokens ?? []).map((token) => ({ ...token, process: processOf(token, snapshot.scopes ?? [], main) })), tokenCount: snapshot?.tokenCount ?? snapshot?.tokens?.length ?? 0,
    };
  }

  function make(replay) {
    const steps = replay.steps;
    chain(steps);
    const main = replay.process ?? "";
    const frames = steps.map((step) => frame(step, main));
    const versions = new Map([[main, replay.version]]);
    for (const step of steps) {
      if (step.process && !versions.has(step.process)) versions.set(step.process, undefined);
      for (const scope of step.snapshot?.scopes ?? []) if (versions.has(scope.process)) versions.set(scope.process, versions.get(scope.process) ?? scope.version);
    }
    return {
      about: replay, frames, main,
      /* The execution's process and those that it called, in that order; by name, with the version. */
      versions,
      changes(index) {
        const { step, snapshot } = frames[index];
        if (!step.before || !snapshot || snapshot.payloadsLeftOut) return null;
        step.changes ??= changes(step.before.snapshot, snapshot);
        return { than: step.before.sequence, list: step.changes.slice(0, CHANGES_MAX), cut: step.changes.length > CHANGES_MAX };
      },
      payloads: (index) => frames[index].snapshot ? payloads(frames[index].snapshot) : null,
      /* How often each node of a process was entered, and which of its flows were taken, up to there. */
      visits(index, process = main) {
        const nodes = new Map();
        const flows = new Set();
        for (let i = 0; i <= index; i++) {
          if (frames[i].process !== process) continue;
          nodes.set(frames[i].task, (nodes.get(frames[i].task) ?? 0) + 1);
          if (frames[i].flow) flows.add(frames[i].flow);
          for (const join of frames[i].snapshot?.joins ?? []) if (typeof join[0] === "string") flows.add(join[0]);
        }
        return { nodes, flows };
      },
    };
  }

  return { make, parse, Digits };
})();
