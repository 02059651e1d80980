/*
 * replay.js: the page: which step is shown, and everything about it. Replay.open(replay, xml) fills it.
 */
const Replay = (() => {
  "use strict";
  const { make } = Tree;
  const $ = (id) => document.getElementById(id);
  const PLAY_MS = 900;
  const LIVES = { WaitingForHuman: "Waiting for a person" }; /* what has a better name here */
  const WHY_MISSING = {
    underWay: "This step is under way: its snapshot comes when it ends.",
    notKept: "No snapshot: engine.stepBlobs keeps some steps only, or none.",
    absent: "No snapshot: no store has it. It was made without step blobs, or has been removed since.",
    unreadable: "The snapshot cannot be read: its bytes are damaged or of another version.",
  };
  let story = null, diagram = null, drawn = null, shown = null, own = null, sources = new Map(), fetchCalled = null, index = 0, tab = "changes", timer = null;
  let inPane = [];
  let opening = 0, drawing = 0, turning = 0; /* of these only the newest counts: drawing takes a while */

  const clock = (ms) => Number.isNaN(ms) ? "" : new Date(ms).toISOString().slice(11, 23);
  function span(ms) {
    if (ms === null || Number.isNaN(ms)) return "–";
    if (ms < 1000) return `${ms} ms`;
    if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
    if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
    return `${Math.floor(ms / 3600000)} h ${Math.round(ms % 3600000 / 60000)} min`;
  }
  const offset = (ms) => `+${span(Math.max(0, ms))}`;
  const pair = (name, value) => make("div", "", make("dt", "", name), make("dd", "", value));
  /* Names stand in the drawings: those of the processes that were drawn are known. */
  const names = new Map();
  const nameOf = (frame) => {
    const key = `${frame.process} ${frame.task}`;
    if (!names.has(key) && diagram && shown === frame.process) names.set(key, diagram.name(frame.task).replace(/\s+/g, " "));
    return names.get(key) || frame.task;
  };
  const tone = (status) => ({ Completed: "good", Error: "fail", Stopped: "fail", Waiting: "wait", Running: "run" })[status] ?? "";

  /* ---- what stays ---- */

  function head() {
    const about = story.about;
    const start = Date.parse(about.startedAt), end = Date.parse(about.updatedAt);
    document.title = `${about.process} · Strider replay`;
    $("title").textContent = about.process;
    $("execution").textContent = about.executionId;
    $("facts").replaceChildren(
      pair("Status", make("span", `chip ${tone(about.status)}`, about.suspended ? "Suspended" : LIVES[about.lifecycle] ?? about.status)),
      pair("Version", String(about.version)), pair("Run", String(about.run)),
      pair("Started", `${about.startedAt.slice(0, 10)} ${about.startedAt.slice(11, 19)} UTC`), pair("Took", span(end - start)));
    const missing = story.frames.filter((frame) => frame.missing && frame.missing !== "underWay").length;
    const notes = [];
    if (missing > 0) notes.push(`${missing} of ${story.frames.length} steps have no snapshot (engine.stepBlobs is “${about.stepBlobs}” now): their payloads are not known.`);
    if (about.next) notes.push(`More steps follow, from step ${about.next} on.`);
    $("notice").hidden = notes.length === 0;
    $("notice").textContent = notes.join(" ");
  }

  function list() {
    const start = Date.parse(story.about.startedAt);
    const items = story.frames.map((frame, i) => {
      const failed = frame.error && !frame.error.passing && frame.error.task === frame.task;
      const waits = frame.tokens.some((token) => token.sequence === frame.sequence && token.wait);
      const sub = failed ? frame.error.code : waits ? "waits" : frame.missing === "underWay" ? "under way" : frame.missing ? "no snapshot" : frame.moduleMs !== null ? `module ${span(frame.moduleMs)}${frame.attempts > 1 ? `, ${frame.attempts} attempts` : ""}` : "";
      const button = make("button", "", make("span", "n", String(frame.sequence)), make("span", "name", nameOf(frame)),
        make("span", "at", offset(frame.at - start)), sub ? make("span", `sub ${failed ? "fail" : waits ? "wait" : ""}`, sub) : null);
      button.type = "button";
      button.addEventListener("click", () => { stop(); go(i); });
      return make("li", "", button);
    });
    const focused = [...$("steps").children].findIndex((item) => item.contains(document.activeElement));
    $("steps").replaceChildren(...items);
    items[focused]?.firstChild.focus({ preventScroll: true });
    $("slider").max = String(Math.max(1, story.frames.length));
  }

  /* ---- one step ---- */

  function panel() {
    const frame = story.frames[index];
    const named = nameOf(frame);
    $("step-number").textContent = `Step ${frame.sequence} of ${story.about.sequence}`;
    $("step-name").textContent = named;
    $("step-id").textContent = [named === frame.task ? "" : frame.task, frame.process === story.main ? "" : `in ${frame.process}`].filter(Boolean).join(" ");
    const about = frame.error;
    $("step-error").hidden = !about;
    $("step-error").classList.toggle("passing", !!about?.passing);
    if (about) $("step-error").replaceChildren(make("b", "", about.task && about.task !== frame.task ? `${about.code} in ${about.task}` : about.code), about.message ?? "");
    const token = frame.tokens.find((one) => one.sequence === frame.sequence);
    const facts = [pair("Entered", clock(frame.at))];
    if (frame.snapshot) facts.push(pair("Snapshot", clock(Date.parse(frame.snapshot.updatedAt))));
    if (frame.moduleMs !== null) facts.push(pair("Module", span(frame.moduleMs)));
    if (frame.attempts > 0) facts.push(pair("Attempts", String(frame.attempts)));
    if (frame.instance) facts.push(pair("Instance", String(frame.instance)));
    if (token?.wait) facts.push(pair("Waits for", token.wait));
    if (token?.dueAt) facts.push(pair("Due", clock(Date.parse(token.dueAt))));
    if (frame.snapshot) facts.push(pair("State", LIVES[frame.snapshot.lifecycle] ?? frame.snapshot.lifecycle));
    $("measures").replaceChildren(...facts);
    pane();
  }

  function pane() {
    const frame = story.frames[index];
    const found = story.changes(index);
    const counts = { changes: found ? found.list.length + (found.cut ? "+" : "") : "", payloads: "", tokens: frame.tokenCount || "" };
    for (const name of ["changes", "payloads", "tokens"]) {
      const button = $(`tab-${name}`);
      button.setAttribute("aria-selected", String(name === tab));
      button.tabIndex = name === tab ? 0 : -1;
      button.replaceChildren(name[0].toUpperCase() + name.slice(1), ...(counts[name] === "" ? [] : [make("span", "count", String(counts[name]))]));
    }
    /* What is open in it stays open when the same is shown again. */
    const now = [tab, frame.step, frame.step.before];
    if (now.every((one, i) => one === inPane[i])) return;
    inPane = now;
    $("pane").setAttribute("aria-labelledby", `tab-${tab}`);
    $("pane").replaceChildren(!frame.snapshot ? make("p", "empty", WHY_MISSING[frame.missing] ?? "No snapshot.")
      : frame.snapshot.payloadsLeftOut && tab !== "tokens" ? make("p", "empty", "Payloads are left out behind the 1,000th instance of a multi-instance activity.")
      : tab === "changes" ? changes(found) : tab === "payloads" ? Tree.show(story.payloads(index), (found?.list ?? []).map((one) => one.path.replace(/\[(\d+)\]/g, ".$1")))
      : tokens(frame));
  }

  function changes(found) {
    if (!found) return make("div", "", make("p", "empty", "The first snapshot: nothing to compare it with. The payloads show what came in."));
    if (found.list.length === 0) return make("p", "empty", `Nothing changed since step ${found.than}.`);
    const out = make("div", "");
    for (const one of found.list) {
      const sign = { added: "+", changed: "~", removed: "−" }[one.kind];
      const values = make("div", "values", one.before !== undefined ? make("del", "", Tree.text(one.before)) : null, one.after !== undefined ? make("ins", "", Tree.text(one.after)) : null);
      const mark = make("span", "sign", sign);
      mark.title = one.kind;
      out.append(make("div", `change ${one.kind}`, make("div", "path", mark, make("span", "", one.path)), values));
    }
    if (found.cut) out.append(make("p", "empty", "More has changed than is shown."));
    return out;
  }

  function tokens(frame) {
    if (frame.tokens.length === 0) return make("p", "empty", "No token is left.");
    const rows = frame.tokens.map((token) => make("tr", "", make("td", "", String(token.id)), make("td", "", token.taskId ? String(token.taskId) : ""),
      make("td", "", token.wait ? `${token.state} (${token.wait})` : token.state)));
    const table = make("table", "", make("thead", "", make("tr", "", make("th", "", "Token"), make("th", "", "Node"), make("th", "", "State"))), make("tbody", "", ...rows));
    return frame.tokenCount > frame.tokens.length ? make("div", "", table, make("p", "empty", `${frame.tokens.length} of ${frame.tokenCount} tokens are shown.`)) : table;
  }

  /* ---- moving ---- */

  function markSteps() {
    $("steps").querySelectorAll("button").forEach((button, i) => {
      if (i === index) button.setAttribute("aria-current", "step"); else button.removeAttribute("aria-current");
      button.classList.toggle("later", i > index);
    });
  }

  function go(to) {
    const last = story.frames.length - 1;
    if (last < 0) return;
    index = Math.min(last, Math.max(0, to));
    const frame = story.frames[index];
    markSteps();
    const entry = $("steps").children[index], box = $("steps").parentElement;
    if (box.scrollHeight > box.clientHeight) {
      const top = entry.offsetTop - box.offsetTop;
      if (top < box.scrollTop + 40 || top + entry.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
    }
    $("slider").value = String(index + 1);
    $("position").textContent = `${frame.sequence} / ${story.about.sequence}`;
    $("first").disabled = $("previous").disabled = index === 0;
    $("next").disabled = $("last").disabled = index === last;
    turnTo(frame.process);
    panel();
    try { history.replaceState(null, "", hash(frame.sequence)); } catch { /* a file that may not */ }
  }
  let hash = (sequence) => `#step=${sequence}`;

  function stop() {
    clearInterval(timer);
    timer = null;
    document.body.classList.remove("playing");
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (timer) return stop();
    if (index === story.frames.length - 1) go(0);
    document.body.classList.add("playing");
    $("play").setAttribute("aria-label", "Pause");
    timer = setInterval(() => { if (index >= story.frames.length - 1) stop(); else go(index + 1); }, PLAY_MS);
  }

  function choose(name) { tab = name; pane(); $(`tab-${name}`).focus(); }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !story || event.target.closest?.("dialog")) return;
    const inTabs = event.target.closest?.("[role=tablist]");
    const typing = event.target.matches?.("input:not([type=range]), textarea, select");
    if (typing || (event.target.id === "slider" && event.key.startsWith("Arrow"))) return;
    if (inTabs && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      const names = ["changes", "payloads", "tokens"];
      event.preventDefault();
      return choose(names[(names.indexOf(tab) + (event.key === "ArrowRight" ? 1 : 2)) % 3]);
    }
    const act = { ArrowLeft: () => go(index - 1), ArrowRight: () => go(index + 1), Home: () => go(0), End: () => go(story.frames.length - 1), f: () => diagram?.fit() }[event.key];
    if (act) { stop(); act(); event.preventDefault(); }
    else if (event.key === " " && !event.target.closest?.("button, summary, a")) { play(); event.preventDefault(); }
  }

  function wire() {
    $("first").onclick = () => { stop(); go(0); };
    $("previous").onclick = () => { stop(); go(index - 1); };
    $("next").onclick = () => { stop(); go(index + 1); };
    $("last").onclick = () => { stop(); go(story.frames.length - 1); };
    $("play").onclick = play;
    $("fit").onclick = () => diagram?.fit();
    $("slider").oninput = (event) => { stop(); go(Number(event.target.value) - 1); };
    for (const name of ["changes", "payloads", "tokens"]) $(`tab-${name}`).onclick = () => choose(name);
    document.addEventListener("keydown", keys);
  }

  function theme() {
    const root = document.documentElement;
    const wanted = new URLSearchParams(location.hash.slice(1)).get("theme");
    root.dataset.theme = wanted ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    $("theme").onclick = () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; };
  }

  const wantedStep = () => Number(new URLSearchParams(location.hash.slice(1)).get("step")) || null;

  /* A click on a node goes to its next step, or else to its first. */
  function select(id) {
    const isOf = (frame) => frame.task === id && frame.process === shown;
    const next = story.frames.findIndex((frame, i) => isOf(frame) && i > index);
    const any = next >= 0 ? next : story.frames.findIndex(isOf);
    if (any >= 0) { stop(); go(any); }
  }

  /* The drawing stays as it is, with its zoom, as long as it is the same. */
  async function draw(xml) {
    if (diagram && drawn === xml) return true;
    const mine = ++drawing;
    diagram?.close();
    diagram = null;
    drawn = xml;
    let made = null;
    try {
      if (xml) made = await Diagram.open($("canvas"), xml);
    } catch { /* it cannot be drawn: said below */ }
    if (mine !== drawing) { made?.close(); return false; }
    diagram = made;
    diagram?.select(select);
    $("no-diagram").hidden = made !== null;
    return true;
  }

  function sourceOf(process) {
    if (!sources.has(process)) sources.set(process, Promise.resolve(fetchCalled?.(process, story.versions.get(process)) ?? null).catch(() => null));
    return sources.get(process);
  }

  /* Shows the drawing of that process with what it says of the step; for one that has none, the execution's own. */
  async function turnTo(process) {
    if (shown === process) return mark();
    const mine = ++turning, of = story;
    let xml = await sourceOf(process), wanted = process;
    if (!xml && process !== of.main) {
      wanted = of.main;
      xml = await sourceOf(wanted);
    }
    if (mine !== turning || of !== story) return;
    if (shown !== wanted) {
      if (!await draw(xml) || mine !== turning || of !== story) return;
      shown = wanted;
      list(); /* more names are known now */
      markSteps();
      panel();
    }
    mark();
  }

  function mark() {
    turning++;
    diagram?.show(story, index, shown);
    for (const button of $("processes").children) button.setAttribute("aria-pressed", String(button.textContent === shown));
  }

  function processes() {
    const all = [...story.versions.keys()];
    $("processes").hidden = all.length < 2;
    $("processes").replaceChildren(...all.map((process) => {
      const button = make("button", "", process);
      button.type = "button";
      button.addEventListener("click", () => { stop(); turnTo(process); });
      return button;
    }));
  }

  /* Where to stand: whoever looks at the last step of an execution that goes on follows it. */
  function place(before) {
    const isSame = before && before.about.executionId === story.about.executionId && before.about.run === story.about.run;
    if (isSame && index >= before.frames.length - 1) return story.frames.length - 1;
    const wanted = isSame ? before.frames[index].sequence : wantedStep();
    const at = story.frames.findIndex((frame) => frame.sequence === wanted);
    return at >= 0 ? at : story.frames.length - 1;
  }

  /*
   * Shows an execution, or what has become of the one that is shown; `address` makes the hash of a step. `called(process, version)`
   * gives the drawing of a process that it calls.
   */
  async function open(replay, xml, address, called) {
    const mine = ++opening;
    const isSame = story?.about.executionId === replay.executionId && own === xml;
    if (!isSame) {
      if (!await draw(xml) || mine !== opening) return;
      own = xml;
      shown = replay.process;
      names.clear();
      sources = new Map([[replay.process, Promise.resolve(xml)]]);
    }
    const before = story;
    hash = address ?? hash;
    fetchCalled = called;
    story = Story.make(replay);
    head();
    list();
    processes();
    go(place(before));
    document.body.dataset.ready = "true";
  }

  function close() {
    opening++;
    drawing++;
    stop();
    diagram?.close();
    names.clear();
    diagram = story = drawn = shown = own = null;
  }

  /* The address may name another step. */
  function goTo(step) {
    const at = story?.frames.findIndex((frame) => frame.sequence === step) ?? -1;
    if (at >= 0) { stop(); go(at); }
  }

  wire();
  theme();
  return { open, goTo, close };
})();
