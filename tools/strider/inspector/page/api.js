/*
 * api.js: the engine over HTTP: requests, the stream of events, the token. The token stays in this tab.
 */
const Api = (() => {
  "use strict";
  const KEY = "strider-token";
  const WAIT_MS = 1000, WAIT_MAX_MS = 15000;
  let ask = null, asking = null;

  class Refused extends Error {
    constructor(status, code, message) { super(message); this.status = status; this.code = code; }
  }

  const token = () => sessionStorage.getItem(KEY);
  const forget = () => sessionStorage.removeItem(KEY);
  const headers = () => token() ? { Authorization: `Bearer ${token()}` } : {};

  /* Many requests may be refused at once: the person is asked once. */
  async function askForToken(refused) {
    if (refused !== token()) return;
    asking ??= ask(refused !== null).then((given) => sessionStorage.setItem(KEY, given)).finally(() => { asking = null; });
    await asking;
  }

  async function send(path, options) {
    for (;;) {
      const used = token();
      let response;
      try {
        response = await fetch(path, { ...options, headers: { ...headers(), ...options.headers }, cache: "no-store" });
      } catch (error) {
        throw error.name === "AbortError" ? error : new Refused(0, "Unreachable", "The engine cannot be reached.");
      }
      if (response.status !== 401 || !ask) return response;
      await askForToken(used);
    }
  }

  async function call(path, options = {}) {
    const response = await send(path, options);
    let reply;
    try { reply = Story.parse(await response.text()); } catch { throw new Refused(response.status, "Internal", `No JSON came back (HTTP ${response.status}).`); }
    /* An execution that failed answers so, too: ok is false, and it is all there. */
    if (!reply.ok && (!reply.lifecycle || response.status !== 422)) throw new Refused(response.status, reply.error?.code ?? "Internal", reply.error?.message ?? `HTTP ${response.status}`);
    return reply;
  }

  /* `body`: JSON as text, so that numbers keep their digits. */
  const post = (path, body = "{}") => call(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });

  const remove = (path) => call(path, { method: "DELETE" });

  function query(path, fields) {
    const parameters = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ""));
    return parameters.size > 0 ? `${path}?${parameters}` : path;
  }
  const execution = (id) => `v1/executions/${encodeURIComponent(id)}`;

  /* The data of each whole event in `text`, and what is left of it. */
  function parts(text) {
    const blocks = text.split("\n\n");
    const rest = blocks.pop();
    const events = [];
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) events.push(Story.parse(data));
    }
    return { events, rest };
  }

  async function read(response, onEvent) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const { events, rest } = parts(text + value);
      text = rest;
      events.forEach(onEvent);
    }
  }

  /* Listens while the page is seen, again and again. onState("live" or "off"). Returns a function that reconnects now. */
  function listen(onEvent, onState) {
    let abort = null, wait = WAIT_MS, timer = null;
    async function connect() {
      clearTimeout(timer);
      abort?.abort();
      if (document.hidden) return;
      const mine = abort = new AbortController();
      try {
        const response = await send("v1/events", { signal: mine.signal });
        if (response.ok) {
          wait = WAIT_MS;
          onState("live");
          await read(response, onEvent);
        }
      } catch { /* the connection is gone: again, below */ }
      if (mine !== abort) return;
      onState("off");
      if (document.hidden) return;
      timer = setTimeout(connect, wait);
      wait = Math.min(2 * wait, WAIT_MAX_MS);
    }
    document.addEventListener("visibilitychange", () => { if (document.hidden) abort?.abort(); else connect(); });
    connect();
    return connect;
  }

  return { token, forget, call, post, remove, query, execution, parts, listen, Refused, whenDenied(handler) { ask = handler; } };
})();
