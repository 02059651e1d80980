/*
 * parts.js: what the views are made of. All text goes in as text, never as markup.
 */
const Parts = (() => {
  "use strict";
  const { make } = Tree;
  const $ = (id) => document.getElementById(id);

  function link(href, className, ...children) {
    const element = make("a", className, ...children);
    element.href = href;
    return element;
  }

  function button(text, className, action) {
    const element = make("button", className, text);
    element.type = "button";
    element.addEventListener("click", action);
    return element;
  }

  const AGES = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [Infinity, "d", 86400]];
  function age(seconds) {
    const [, unit, size] = AGES.find(([most]) => seconds < most);
    return `${Math.floor(seconds / size)} ${unit}`;
  }

  /* "5 min ago", "in 3 h"; the instant itself stands in the title. */
  function when(text, now = Date.now()) {
    if (!text) return make("span", "muted", "–");
    const seconds = (now - Date.parse(text)) / 1000;
    const element = make("time", "", seconds >= -1 ? `${age(Math.max(0, seconds))} ago` : `in ${age(-seconds)}`);
    element.dateTime = text;
    element.title = text;
    return element;
  }
  function tick() {
    for (const element of document.querySelectorAll("time")) element.textContent = when(element.dateTime).textContent;
  }

  const TONES = { Completed: "good", Error: "fail", Stopped: "fail", Waiting: "wait", Running: "run" };
  function chip(row) {
    const text = row.suspended ? "Suspended" : row.lifecycle === "WaitingForHuman" ? "Waiting for a person" : row.status;
    return make("span", `chip ${TONES[row.status] ?? ""}`, text);
  }

  function table(names, rows) {
    const head = make("tr", "", ...names.map((name) => { const cell = make("th", "", name); cell.scope = "col"; return cell; }));
    const body = make("tbody", "", ...rows);
    return { body, element: make("div", "sheet", make("table", "", make("thead", "", head), body)) };
  }
  /* `cells`: [name, content]; the name shows where the table is a list of cards. */
  function row(cells) {
    return make("tr", "", ...cells.map(([name, ...content]) => { const cell = make("td", "", ...content); cell.dataset.name = name; return cell; }));
  }

  const heading = (text, ...more) => make("div", "heading", make("h1", "", text), ...more);
  const empty = (title, ...more) => make("div", "nothing-here", make("h2", "", title), ...more);
  const shell = (text) => make("pre", "shell", text);
  const failure = (error) => { const box = make("div", "error", make("b", "", error.code ?? "Error"), error.message); box.setAttribute("role", "alert"); return box; };

  /* At most one run at a time, and one more behind it when it was asked for meanwhile. It rests as long as it worked: however
   * much happens, the engine is not asked all the time. */
  function gathered(work, delay) {
    let timer = null, running = false, again = false;
    async function run() {
      const began = performance.now();
      timer = null;
      running = true;
      again = false;
      try { await work(); } finally {
        running = false;
        if (again) timer = setTimeout(run, Math.max(delay, performance.now() - began));
      }
    }
    return () => { if (running) again = true; else timer ??= setTimeout(run, delay); };
  }

  /* Shows what `value` became, if it became something else: what has the focus or is open stays. */
  const shown = new WeakMap();
  function fill(element, value, build) {
    const key = JSON.stringify(value);
    if (shown.get(element) === key) return;
    element.replaceChildren(...build());
    shown.set(element, key);
  }

  return { $, make, link, button, when, tick, chip, table, row, heading, empty, shell, failure, gathered, fill };
})();
