/*
 * diagram.js: the drawing: which nodes and flows are marked, where tokens stand. The viewer is bpmn-js.
 */
const Diagram = (() => {
  "use strict";
  const LABEL_WIDTH = 86;
  const MARKS = ["visited", "here", "waits", "failed"];

  function arrows(container) {
    const svg = container.querySelector("svg");
    const defs = document.createElementNS("http://www.w3.org/2000/svg", "defs");
    const marker = document.createElementNS(defs.namespaceURI, "marker");
    const path = document.createElementNS(defs.namespaceURI, "path");
    for (const [name, value] of Object.entries({ id: "way-visited", viewBox: "0 0 20 20", refX: 11, refY: 10, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" })) marker.setAttribute(name, value);
    marker.setAttribute("markerWidth", 12);
    marker.setAttribute("markerHeight", 12);
    path.setAttribute("d", "M 1 5 L 11 10 L 1 15 Z");
    path.style.fill = "var(--accent)";
    marker.append(path);
    defs.append(marker);
    svg.prepend(defs);
  }

  /* Names outside their shape have the width that the modeler's font needed: another one may need more. */
  function widen(viewer, registry) {
    for (const label of registry.filter((one) => one.labelTarget)) {
      const width = Math.max(label.width, LABEL_WIDTH);
      label.x -= (width - label.width) / 2;
      label.width = width;
      viewer.get("graphicsFactory").update("shape", label, registry.getGraphics(label));
    }
  }

  async function open(container, xml) {
    const viewer = new BpmnJS({ container, bpmnRenderer: { defaultFillColor: "var(--node)", defaultStrokeColor: "var(--ink)", defaultLabelColor: "var(--text)" },
      textRenderer: { defaultStyle: { fontFamily: "Arial, Helvetica, \"Liberation Sans\", sans-serif" } } });
    const names = Names.legal(xml);
    await viewer.importXML(names.xml);
    const canvas = viewer.get("canvas");
    const registry = viewer.get("elementRegistry");
    const overlays = viewer.get("overlays");
    let marked = [];
    arrows(container);
    widen(viewer, registry);
    const fit = () => { canvas.resized(); canvas.zoom("fit-viewport", "auto"); canvas.zoom(Math.min(canvas.zoom() * 0.95, 1.4), "auto"); };

    const find = (id) => registry.get(names.drawn(id));
    const mark = (id, name) => {
      const element = find(id);
      if (!element) return;
      canvas.addMarker(element, name);
      marked.push(element);
    };
    const badge = (id, position, className, text, title) => {
      const element = find(id);
      if (!element || element.waypoints) return;
      const html = document.createElement("div");
      html.className = className;
      html.textContent = text;
      html.title = title;
      overlays.add(element, "replay", { position, html, scale: { min: 0.7, max: 1.2 } });
    };

    /* A join consumes a token of each of its flows: those whose source has been passed. */
    const flowsInto = (element, visits) => (element?.incoming ?? []).filter((flow) => flow.type === "bpmn:SequenceFlow" &&
      visits.nodes.has(names.meant(flow.source.id)) && (flow.source.outgoing ?? []).length === 1).map((flow) => flow.id);

    /* A drawing is of one process: what is of another is not on it. */
    function show(story, index, process) {
      const frame = story.frames[index];
      const isHere = frame.process === process;
      const visits = story.visits(index, process);
      for (const element of marked) for (const name of MARKS) canvas.removeMarker(element, name);
      marked = [];
      overlays.remove({ type: "replay" });
      for (const [id, count] of visits.nodes) {
        const element = find(id);
        mark(id, "visited");
        if (count > 1) badge(id, { bottom: -4, right: 0 }, "visits", `×${count}`, `entered ${count} times`);
        for (const flow of element?.incoming ?? []) if (visits.flows.has(names.meant(flow.id))) mark(flow.id, "visited");
        if ((element?.incoming ?? []).length > 1 && /Gateway$/.test(element.type)) for (const flow of flowsInto(element, visits)) mark(flow, "visited");
      }
      for (const id of visits.flows) mark(id, "visited");
      if (isHere) mark(frame.task, "here");
      if (isHere && frame.flow) mark(frame.flow, "here");
      tokens(frame, process);
      if (isHere && frame.error?.task) mark(frame.error.task, frame.error.passing ? "waits" : "failed");
      if (isHere) reveal(frame.task);
    }

    function tokens(frame, process) {
      const places = new Map();
      for (const token of frame.tokens) {
        if (token.guard || token.process !== process) continue;
        const place = places.get(token.taskId) ?? { count: 0, state: "" };
        place.count++;
        place.state = token.state === "failed" || place.state === "fails" ? "fails" : token.state === "waiting" || token.wait ? "waits" : place.state;
        places.set(token.taskId, place);
      }
      for (const [id, { count, state }] of places) {
        if (state === "waits") mark(id, "waits");
        if (state === "fails") mark(id, "failed");
        badge(id, { top: 0, left: (find(id)?.width ?? 0) / 2 }, `dot ${state}`, count > 1 ? String(count) : "", `${count} token${count > 1 ? "s" : ""} ${state || "here"}`);
      }
    }

    /* Only when it is out of sight: a picture that jumps at each step cannot be followed. */
    function reveal(id) {
      const element = find(id);
      if (!element || element.waypoints) return;
      const view = canvas.viewbox();
      const inside = element.x >= view.x && element.y >= view.y && element.x + element.width <= view.x + view.width && element.y + element.height <= view.y + view.height;
      if (!inside) canvas.scrollToElement(element, 80);
    }

    for (const element of registry.filter((one) => one.type === "bpmn:SubProcess" || one.type === "bpmn:Participant")) if (element.width > 150) canvas.addMarker(element.id, "big");
    fit();
    const name = (id) => find(id)?.businessObject?.name || "";
    const select = (handler) => viewer.get("eventBus").on("element.click", ({ element }) => handler(names.meant((element.labelTarget ?? element).id)));
    return { show, fit, name, select, close: () => viewer.destroy() };
  }

  return { open };
})();
