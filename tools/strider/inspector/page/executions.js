/*
 * executions.js: the list of executions: filters, pages, and rows that follow the events.
 */
const Executions = (() => {
  "use strict";
  const { $, make, link, button, when, chip, table, row, heading, empty, shell, failure } = Parts;
  const PAGE = 50, ROWS_MAX = 2000;
  const FRESH_MAX = 200; /* that are put on top by themselves */
  const STATUSES = ["Running", "Waiting", "Completed", "Error", "Stopped"];
  const LIFECYCLES = ["Running", "Suspended", "WaitingForHuman", "Completed", "Failed"];
  let shown = null; /* while the list is seen: its filter, its rows by id, news that are not drawn yet, how many came by themselves */

  const address = (filter) => `#${Api.query("", { view: "executions", ...filter }).slice(1)}`;
  const filterOf = (parameters) => Object.fromEntries(["status", "lifecycle", "process"].map((name) => [name, parameters.get(name) ?? ""]));
  const isNewer = (one, other) => one.run > other.run || (one.run === other.run && one.revision > other.revision);
  const matches = (filter, value) => Object.entries(filter).every(([name, wanted]) => !wanted || value[name] === wanted);

  function choice(name, label, options, filter) {
    const select = make("select", "", ...["", ...options].map((value) => new Option(value || `Any ${label}`, value, false, value === filter[name])));
    select.setAttribute("aria-label", label);
    select.addEventListener("change", () => { location.hash = address({ ...filter, [name]: select.value }); });
    return select;
  }

  function filters(filter) {
    const process = make("input");
    process.type = "search";
    process.placeholder = "Any process";
    process.value = filter.process;
    process.setAttribute("aria-label", "process");
    process.addEventListener("change", () => { location.hash = address({ ...filter, process: process.value.trim() }); });
    const find = make("input");
    find.type = "search";
    find.placeholder = "Open by id";
    find.setAttribute("aria-label", "Open by id");
    find.addEventListener("change", () => { if (find.value.trim()) location.hash = `execution=${encodeURIComponent(find.value.trim())}`; });
    return make("div", "filters", choice("status", "status", STATUSES, filter), choice("lifecycle", "lifecycle", LIFECYCLES, filter), process, find);
  }

  function rowOf(value) {
    const id = link(`#execution=${encodeURIComponent(value.executionId)}`, "whole mono", value.executionId);
    return row([["Status", chip(value), value.errorCode && value.status === "Error" ? make("span", "why", value.errorCode) : null],
      ["Process", make("b", "", value.process), make("span", "muted", ` v${value.version}`), value.isTest ? make("span", "muted", " test") : null],
      ["Execution", id], ["At", value.taskId ?? ""], ["Started", when(value.startedAt)], ["Updated", when(value.updatedAt)]]);
  }

  function put(value, place) {
    const held = shown.rows.get(value.executionId);
    const element = rowOf(value);
    if (held) {
      const focused = held.element.contains(document.activeElement);
      held.element.replaceWith(element);
      if (focused) element.querySelector("a").focus();
    } else shown.body[place](element);
    shown.rows.set(value.executionId, { value, element });
    return element;
  }

  async function more(list) {
    const reply = await Api.call(Api.query("v1/executions", { ...list.filter, limit: PAGE, cursor: list.cursor }));
    if (list !== shown) return;
    list.cursor = reply.cursor;
    for (const value of reply.executions) {
      const held = list.rows.get(value.executionId);
      if (!held || isNewer(value, held.value)) put(value, "append");
    }
    $("more").hidden = !list.cursor || list.rows.size >= ROWS_MAX;
    await tellIfEmpty(list);
  }

  /* Nothing there: how to make some. */
  async function tellIfEmpty(list) {
    const isFiltered = Object.values(list.filter).some(Boolean);
    $("none").hidden = list.rows.size > 0;
    if (list.rows.size > 0) return;
    if (isFiltered) return $("none").replaceChildren(empty("No execution matches", link(address({}), "", "Show all")));
    const { definitions } = await Api.call("v1/definitions");
    if (list !== shown || list.rows.size > 0) return;
    const first = definitions.find((one) => one.executable);
    $("none").replaceChildren(first ? empty("No execution yet", make("p", "", "Start the first one. It shows up here by itself."), start(first))
      : empty("Nothing is deployed yet", make("p", "", "Serve a project, or deploy a BPMN file:"), shell("strider deploy order.bpmn")));
  }
  const start = (definition) => shell(`strider start ${definition.process} --project ${definition.projectId} --request '{}'`);

  async function act(begin) {
    try { await begin(); } catch (error) { Ask.tell(error.code ?? "This did not work", error.message); }
  }

  async function show(parameters) {
    const filter = filterOf(parameters);
    const { body, element } = table(["Status", "Process", "Execution", "At", "Started", "Updated"], []);
    const list = shown = { filter, rows: new Map(), news: new Map(), fresh: 0, body, cursor: null };
    const none = make("div");
    none.id = "none";
    none.hidden = true;
    const next = button("Show older", "quiet", async () => {
      next.disabled = true;
      try { await more(list); } catch (error) { next.before(failure(error)); }
      next.disabled = false;
    });
    const again = button("Many more have started: show them", "quiet", () => show(parameters));
    again.id = "fresh";
    again.hidden = true;
    next.id = "more";
    next.hidden = true;
    $("page").replaceChildren(heading("Executions", make("div", "acts", button("Start", "primary", () => act(Begin.start)), button("Import", "quiet", () => act(Begin.take)))), filters(filter), again, element, none, next);
    await more(list);
  }

  /* An audit message holds all that a row shows. Of many for one execution only the newest is drawn. */
  function onEvent(event) {
    if (!shown || !event.messageId) return;
    const held = shown.news.get(event.executionId);
    if (held && !isNewer(event, held)) return;
    if (shown.news.size === 0) requestAnimationFrame(draw);
    shown.news.set(event.executionId, { ...held, errorCode: null, ...event });
  }

  function draw() {
    if (!shown) return;
    for (const value of shown.news.values()) drawOne(value);
    shown.news.clear();
    $("fresh").hidden = shown.fresh < FRESH_MAX;
  }

  function drawOne(value) {
    const held = shown.rows.get(value.executionId);
    if (held ? !isNewer(value, held.value) : !matches(shown.filter, value)) return;
    if (!held && shown.fresh++ >= FRESH_MAX) return;
    put({ ...held?.value, ...value }, "prepend").classList.add("fresh");
    $("none").hidden = true;
  }

  return { show, onEvent, start, hide() { shown = null; } };
})();
