/*
 * tree.js: a value as a tree that opens. All text goes in as text, never as markup.
 */
const Tree = (() => {
  "use strict";
  const AT_ONCE = 100;
  const TEXT_MAX = 4000;

  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function text(value, most = TEXT_MAX) {
    const all = value instanceof Story.Digits ? value.text : typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, (k, v) => v instanceof Story.Digits ? v.text : v);
    return all.length > most ? `${all.slice(0, most)}…` : all;
  }

  function leaf(value) {
    const kind = typeof value === "string" ? "s" : typeof value === "number" || value instanceof Story.Digits ? "num" : "lit";
    return make("span", kind, text(value));
  }

  const isBranch = (value) => value !== null && typeof value === "object" && !(value instanceof Story.Digits);
  const label = (key) => key === null ? null : make("span", "k", key);

  function fill(list, entries, from, fresh, path, depth) {
    for (const [key, value] of entries.slice(from, from + AT_ONCE)) list.append(make("li", "", node(key, value, fresh, path, depth)));
    if (entries.length > from + AT_ONCE) {
      const more = make("button", "more", `${entries.length - from - AT_ONCE} more`);
      more.type = "button";
      more.addEventListener("click", () => { more.parentElement.remove(); fill(list, entries, from + AT_ONCE, fresh, path, depth); });
      list.append(make("li", "", more));
    }
  }

  function node(key, value, fresh, path, depth) {
    const here = path === "" ? key : `${path}.${key}`;
    const isFresh = fresh.some((one) => one === here || one.startsWith(`${here}.`) || one.startsWith(`${here}[`));
    if (!isBranch(value)) return make("div", `leaf${isFresh ? " fresh" : ""}`, label(key), ": ", leaf(value));
    const entries = Array.isArray(value) ? value.map((one, index) => [String(index), one]) : Object.entries(value);
    const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
    const summary = make("summary", isFresh ? "fresh" : "", label(key), " ", make("span", "size", size));
    const details = make("details", "", summary);
    const open = () => { if (details.open && details.children.length === 1) { const list = make("ul"); fill(list, entries, 0, fresh, here, depth + 1); details.append(list); } };
    details.addEventListener("toggle", open);
    if (depth < 2 && entries.length > 0 && entries.length <= 30) { details.open = true; open(); }
    return details;
  }

  function show(map, fresh) {
    const tree = make("div", "tree");
    for (const [key, value] of Object.entries(map)) tree.append(node(key, value, fresh, "", 0));
    return tree;
  }

  return { make, show, text };
})();
