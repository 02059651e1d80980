/*
 * lists.js: human tasks, and definitions with their triggers.
 */
const Tasks = (() => {
  "use strict";
  const { $, make, link, button, when, table, row, heading, empty, gathered, failure, fill } = Parts;
  let isShown = false;

  function rowOf(task) {
    const people = [task.assignee, ...(task.candidateUsers ?? []), ...(task.candidateGroups ?? [])].filter(Boolean).join(", ");
    return row([["Task", make("b", "", task.taskName || task.taskId), task.formKey ? make("span", "muted", ` ${task.formKey}`) : null],
      ["Process", task.process], ["Execution", link(`#execution=${encodeURIComponent(task.executionId)}`, "mono", task.executionId)],
      ["For", people || make("span", "muted", "anybody")], ["Since", when(task.since)], ["Due", when(task.dueAt)],
      ["", button("Answer", "small", () => Execution.answer(task.executionId, task).then(refreshSoon))]]);
  }

  const list = (tasks) => tasks.length > 0 ? table(["Task", "Process", "Execution", "For", "Since", "Due", ""], tasks.map(rowOf)).element
    : empty("Nobody is waited for", make("p", "", "A user task that is reached shows up here, with its data and whom it is for."));

  async function refresh() {
    const held = $("tasks");
    if (!isShown || !held) return;
    try {
      const { tasks } = await Api.call("v1/tasks");
      fill(held, tasks, () => [list(tasks)]);
    } catch (error) { fill(held, [error.code, error.message], () => [failure(error)]); }
  }
  const refreshSoon = gathered(refresh, 250);

  return {
    show() {
      const held = make("div");
      held.id = "tasks";
      isShown = true;
      $("page").replaceChildren(heading("Tasks for people"), held);
      return refresh();
    },
    onEvent(event) { if (isShown && event.event !== "step" && !$("dialog").open) refreshSoon(); },
    hide() { isShown = false; },
  };
})();

const Definitions = (() => {
  "use strict";
  const { $, make, link, button, when, table, row, heading, empty, shell } = Parts;

  function trigger(one) {
    const item = make("li", "", make("span", "kind", one.kind), make("span", "mono", one.schedule ?? one.path ?? one.name ?? one.id));
    if (one.kind === "timer") item.append(make("span", "muted", one.nextDueAt ? "due " : "fires no more", one.nextDueAt ? when(one.nextDueAt) : null));
    if (one.lastFiredAt) item.append(make("span", "muted", `fired ${one.fired} ×, last `, when(one.lastFiredAt)));
    return item;
  }

  /* Versions come apart; the newest has the triggers. */
  function rowOf(one, isNewest) {
    const runs = link(`#view=executions&process=${encodeURIComponent(one.process)}`, "", "Executions");
    return row([["Process", make("b", "", one.name || one.process), one.name && one.name !== one.process ? make("span", "muted", ` ${one.process}`) : null],
      ["Version", String(one.version)], ["Project", one.projectId], ["File", make("span", "mono", one.file ?? "")], ["Deployed", when(one.deployedAt)],
      ["Triggers", make("ul", "triggers", ...(one.triggers ?? []).map(trigger))], ["", isNewest ? runs : null], ["", one.executable ? button("Start", "small", () => Begin.start(one)) : null]]);
  }

  async function show() {
    const { definitions, decisions } = await Api.call("v1/definitions");
    const newest = Begin.isNewest(definitions);
    const page = [heading("Definitions")];
    if (definitions.length === 0) page.push(empty("Nothing is deployed yet", make("p", "", "Serve a project, or deploy a BPMN file:"), shell("strider deploy order.bpmn")));
    else page.push(table(["Process", "Version", "Project", "File", "Deployed", "Triggers", "", ""], definitions.map((one) => rowOf(one, newest(one)))).element);
    if (decisions?.length > 0) {
      page.push(make("h2", "between", "Decisions"), table(["Decision", "Version", "Project", "File"], decisions.map((one) => row([
        ["Decision", make("b", "", one.name || one.decision)], ["Version", String(one.version)], ["Project", one.projectId], ["File", make("span", "mono", one.file ?? "")]]))).element);
    }
    $("page").replaceChildren(...page);
  }

  return { show, onEvent() {}, hide() {} };
})();
