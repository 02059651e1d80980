/*
 * execution.js: one execution: its replay, what it waits for, and what an operator may do.
 */
const Execution = (() => {
  "use strict";
  const { $, make, button, when, failure, gathered, fill } = Parts;
  const STEPS_PAGE = 200, STEPS_MAX = 2000;
  const LIVES = ["Pending", "Running", "Suspended", "WaitingForHuman"];
  const VERBS = [
    { name: "resume", label: "Resume", may: (one) => one.suspended, text: "It goes on where it was; timers that fell due meanwhile fire." },
    { name: "retry", label: "Retry", may: (one) => one.lifecycle === "Failed" && one.status !== "Stopped", text: "The step that failed is done again." },
    { name: "suspend", label: "Suspend", may: (one) => LIVES.includes(one.lifecycle) && one.lifecycle !== "Pending" && !one.suspended, text: "It stands still until it is resumed: nothing is called, no timer fires." },
    { name: "restart", label: "Restart", may: (one) => ["Completed", "Failed"].includes(one.lifecycle), text: "It begins anew with the same request, under a new run number. Its modules are called again." },
    { name: "abort", label: "Abort", may: (one) => LIVES.includes(one.lifecycle), danger: true, reason: true, text: "It ends now, for good: it cannot be retried, only restarted." },
    { name: "migrate", label: "Migrate", may: (one) => one.lifecycle !== "Completed" && one.status !== "Stopped", ask: (one) => Begin.migrate(one) },
    { name: "delete", label: "Delete", may: (one) => one.lifecycle !== "Running" && one.lifecycle !== "Pending", danger: true, ask: (one) => Begin.remove(one) },
  ];
  let open = null; /* { id, about, steps, diagram, version } while it is seen */

  async function readSteps(one, from) {
    let about = null, next = from;
    const steps = [];
    do {
      about = await Api.call(Api.query(`${Api.execution(one.id)}/steps`, { from: next, limit: STEPS_PAGE }));
      steps.push(...about.steps);
      next = about.next;
    } while (next && next < STEPS_MAX);
    return { about, steps };
  }

  /* From which step on there may be news: snapshots do not change once they are there. */
  function firstUnsettled(steps) {
    const at = steps.findIndex((step) => step.missing === "underWay" || step.missing === "absent");
    return at >= 0 ? steps[at].sequence : (steps.at(-1)?.sequence ?? 0) + 1;
  }

  async function read(one) {
    const from = one.about ? firstUnsettled(one.steps) : 1;
    let { about, steps } = await readSteps(one, from);
    if (one.about && about.run !== one.about.run && from > 1) {
      ({ about, steps } = await readSteps(one, 1));
      one.steps = [];
    }
    one.steps = [...one.steps.filter((step) => step.sequence < (steps[0]?.sequence ?? Infinity)), ...steps];
    one.about = about;
    if (one.version !== about.version) {
      const { diagram } = await Api.call(Api.query(Api.execution(one.id), { include: "diagram" }));
      one.diagram = diagram;
      one.version = about.version;
    }
  }

  async function refresh() {
    const one = open;
    if (!one) return;
    try {
      await read(one);
      if (one !== open) return;
      verbs(one);
      waits(one);
      await Replay.open({ ...one.about, steps: one.steps }, one.diagram, (step) => `#execution=${encodeURIComponent(one.id)}&step=${step}`,
        async (process, version) => (await Api.call(Api.query(Api.execution(one.id), { include: "diagram", process, version }))).diagram);
    } catch (error) {
      if (one === open) fail(one, error);
    }
  }
  const refreshSoon = gathered(refresh, 120);

  function fail(one, error) {
    if (one.about) {
      $("notice").hidden = false;
      $("notice").textContent = `${error.code ?? "Error"}: ${error.message}`;
      return;
    }
    document.body.dataset.view = "list";
    $("one").hidden = true;
    $("page").hidden = false;
    $("page").replaceChildren(Parts.heading(one.id), failure(error));
  }

  function verbs(one) {
    const now = VERBS.filter((verb) => verb.may(one.about));
    fill($("verbs"), [one.id, now], () => now.map((verb) => button(verb.label, verb.danger ? "quiet hot" : "quiet", () => operate(one, verb))));
  }

  async function operate(one, verb) {
    if (verb.ask) {
      try { await verb.ask(one.about); } catch (error) { fail(one, error); }
      return refreshSoon();
    }
    const path = `${Api.execution(one.id)}/${verb.name}`;
    await Ask.confirm({ title: `${verb.label} ${one.about.process}?`, text: verb.text, action: verb.label, danger: verb.danger, reason: verb.reason,
      act: (reason) => Api.post(path, JSON.stringify({ wait: "accepted", ...(reason ? { reason } : {}) })) });
    refreshSoon();
  }

  const KINDS = { human: "a person", callback: "a callback", timer: "a timer", retry: "its next attempt" };
  function waits(one) {
    const waiting = one.about.waiting ?? [];
    fill($("waits"), [one.id, waiting], () => waiting.map((wait) => waitOf(one, wait)));
    $("waits").hidden = waiting.length === 0;
  }

  function waitOf(one, wait) {
    const item = make("li", "pending", make("b", "", wait.taskId), make("span", "", `waits for ${KINDS[wait.kind] ?? wait.kind}`),
      make("span", "muted", "since ", when(wait.since)), wait.dueAt ? make("span", "muted", "due ", when(wait.dueAt)) : null);
    const label = { human: "Answer", callback: "Send callback" }[wait.kind];
    if (label) item.append(button(label, "small", () => answer(one.id, wait).then(refreshSoon)));
    return item;
  }

  /* The answer to a task that waits; its data, when it is a person's. */
  async function answer(id, { taskId, stepId }) {
    /* Its data helps, but it can be answered without. */
    const { tasks } = await Api.call(Api.query("v1/tasks", { executionId: id })).catch(() => ({ tasks: [] }));
    const task = tasks.find((one) => one.stepId === stepId);
    return Ask.json({
      title: task?.taskName || taskId, name: "Payload (JSON)", action: "Send",
      text: `${task ? "The decision" : "The callback"} goes to ${taskId} of ${id}. Its payload stands in __resume afterwards.`,
      shown: task && Object.keys(task.data ?? {}).length > 0 ? Tree.show(task.data, []) : null,
      act: (text) => Api.post(`${Api.execution(id)}/callback`, `{"stepId":${JSON.stringify(stepId)},"wait":"accepted","payload":${text}}`),
    });
  }

  async function show(parameters) {
    const id = parameters.get("execution");
    if (open?.id === id) {
      Replay.goTo(Number(parameters.get("step")));
      return refresh();
    }
    open = { id, about: null, steps: [], diagram: null, version: null };
    $("title").textContent = "";
    $("execution").textContent = id;
    for (const part of ["facts", "steps"]) $(part).replaceChildren();
    for (const part of ["verbs", "waits"]) fill($(part), null, () => []);
    await refresh();
  }

  function onEvent(event) { if (open && event.executionId === open.id) refreshSoon(); }

  return { show, onEvent, answer, hide() { open = null; Replay.close(); } };
})();
