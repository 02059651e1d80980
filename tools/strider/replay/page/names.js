/*
 * names.js: ids that XML does not allow. A JSON graph may call a node "7" or "two words"; the viewer leaves out what has such an id.
 * So it gets another one, and both are known here.
 */
const Names = (() => {
  "use strict";
  const LEGAL = /^[A-Za-z_][\w.-]*$/;
  /* Attributes and elements that hold an id. */
  const ATTRIBUTES = /^(id|bpmnElement|default|\w*Ref)$/;
  const TEXTS = new Set(["incoming", "outgoing", "flowNodeRef", "sourceRef", "targetRef"]);

  /* `xml` with legal ids; drawn(id) is what an id became, meant(id) what it was. */
  function legal(xml) {
    const tree = new DOMParser().parseFromString(xml, "application/xml");
    const elements = [...tree.getElementsByTagName("*")];
    const drawn = new Map(), meant = new Map();
    for (const element of elements) {
      const id = element.getAttribute("id");
      if (id === null || LEGAL.test(id) || drawn.has(id)) continue;
      const other = `id-of-${drawn.size}-${id.replace(/[^\w.-]/g, "_")}`;
      drawn.set(id, other);
      meant.set(other, id);
    }
    const names = { drawn: (id) => drawn.get(id) ?? id, meant: (id) => meant.get(id) ?? id };
    if (drawn.size === 0 || tree.querySelector("parsererror")) return { xml, ...names };
    for (const element of elements) {
      for (const attribute of element.attributes) if (ATTRIBUTES.test(attribute.name) && drawn.has(attribute.value)) attribute.value = drawn.get(attribute.value);
      if (TEXTS.has(element.localName) && drawn.has(element.textContent.trim())) element.textContent = drawn.get(element.textContent.trim());
    }
    return { xml: new XMLSerializer().serializeToString(tree), ...names };
  }

  return { legal };
})();
