/* embedded.js: the page as a file: the execution stands in it. */
(() => {
  "use strict";
  const held = Story.parse(document.getElementById("data").textContent);
  Replay.open(held.replay, held.diagram, undefined, (process) => Object.hasOwn(held.called, process) ? held.called[process] : null);
  addEventListener("hashchange", () => Replay.goTo(Number(new URLSearchParams(location.hash.slice(1)).get("step"))));
})();
