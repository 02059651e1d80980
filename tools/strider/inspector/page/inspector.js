/*
 * inspector.js: which view is seen. The address says it: #view=executions&status=…, #execution=ID&step=N, #view=tasks.
 */
(() => {
  "use strict";
  const { $, heading, failure, tick } = Parts;
  const TICK_MS = 10000;
  const views = { executions: Executions, tasks: Tasks, definitions: Definitions, execution: Execution };
  let current = null;

  function nameOf(parameters) {
    if (parameters.get("execution")) return "execution";
    const name = parameters.get("view");
    return name !== null && Object.hasOwn(views, name) && name !== "execution" ? name : "executions";
  }

  async function route() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const name = nameOf(parameters);
    const view = views[name];
    if (current !== view) current?.hide();
    current = view;
    const isOne = name === "execution";
    document.body.dataset.view = isOne ? "execution" : "list";
    delete document.body.dataset.ready;
    $("one").hidden = !isOne;
    $("page").hidden = isOne;
    for (const link of $("places").children) {
      const isHere = link.hash === `#view=${isOne ? "executions" : name}`;
      if (isHere) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (!isOne) document.title = `${name[0].toUpperCase()}${name.slice(1)} · Strider`;
    try {
      await view.show(parameters);
    } catch (error) {
      if (current === view) $("page").replaceChildren(heading("This did not work"), failure(error));
    }
    $("forget").hidden = !Api.token();
    document.body.dataset.ready = name;
  }

  let seen = false;
  function onState(state) {
    $("live").dataset.state = state;
    $("live").textContent = state === "live" ? "Live" : "Not connected";
    if (state === "live" && seen) route(); /* what was missed meanwhile */
    seen = true;
  }

  Api.whenDenied(Ask.token);
  $("skip").addEventListener("click", (event) => { event.preventDefault(); ($("page").hidden ? $("details") : $("page")).focus(); });
  $("forget").addEventListener("click", () => { Api.forget(); location.reload(); });
  addEventListener("hashchange", route);
  setInterval(tick, TICK_MS);
  route();
  Api.listen((event) => current?.onEvent(event), onState);
})();
