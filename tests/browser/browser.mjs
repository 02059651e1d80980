/*
 * browser.mjs: a headless Chromium, driven by the DevTools protocol over its pipe: real clicks and keys, what the page holds, and
 * all that it complained about. Nothing beyond 127.0.0.1 can be reached from it.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DEADLINE_MS = 60000;
const LOOK_MS = 50;

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe"];

/* Messages end in a NUL; fd 3 is read by the browser, fd 4 written. */
function connect(child) {
  const waiting = new Map(), listeners = [];
  let held = "", last = 0;
  child.stdio[4].on("data", (bytes) => {
    const parts = (held + bytes).split("\0");
    held = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (!asked) listeners.forEach((listener) => listener(message));
      else if (message.error) asked.reject(new Error(`${asked.method}: ${message.error.message}`));
      else asked.resolve(message.result);
    }
  });
  child.stdio[4].setEncoding("utf8");
  const gone = (why) => { for (const asked of waiting.values()) asked.reject(new Error(why)); waiting.clear(); };
  child.on("exit", () => gone("the browser has ended"));
  child.stdio[3].on("error", () => gone("the browser has closed its pipe"));
  return {
    listen: (listener) => listeners.push(listener),
    send: (method, params = {}, sessionId) => new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { method, resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    }),
  };
}

const KEYS = { ArrowLeft: 37, ArrowRight: 39, Home: 36, End: 35, Tab: 9, Enter: 13, Escape: 27 };

export async function openBrowser(program, { width = 1440, height = 900 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "strider-browser-"));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${folder}`, `--window-size=${width},${height}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const { send, listen } = connect(child);
  const complaints = [];
  const { targetInfos } = await send("Target.getTargets");
  const { sessionId } = await send("Target.attachToTarget", { targetId: targetInfos.find((one) => one.type === "page").targetId, flatten: true });
  const ask = (method, params) => send(method, params, sessionId);
  listen(({ method, params }) => {
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) complaints.push(params.args.map((one) => one.value ?? one.description).join(" "));
    if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
  });
  for (const domain of ["Page", "Runtime", "Log"]) await ask(`${domain}.enable`);
  await ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });

  async function evaluate(expression) {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  /* Looks until it is true; what is seen instead stands in the error. */
  async function until(expression, shown = "document.body.innerText.slice(0, 600)") {
    const end = Date.now() + DEADLINE_MS;
    for (;;) {
      if (await evaluate(`Boolean(${expression})`)) return;
      if (Date.now() > end) throw new Error(`never true: ${expression}\nseen: ${await evaluate(shown)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /* Where a person would press: the middle of the element, which must be on top there. */
  async function click(selector) {
    const find = `document.querySelector(${JSON.stringify(selector)})`;
    await until(`${find}?.getClientRects().length`);
    await evaluate(`${find}.scrollIntoView({ block: "nearest", inline: "nearest" })`);
    const { x, y, top } = await evaluate(`(() => { const box = ${find}.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2, top = document.elementFromPoint(x, y);
      return { x, y, top: ${find}.contains(top) || top?.contains(${find}) ? "" : String(top?.outerHTML).slice(0, 200) }; })()`);
    if (top) throw new Error(`${selector} is covered by ${top}`);
    for (const type of ["mousePressed", "mouseReleased"]) await ask("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  async function press(key) {
    const code = { key, windowsVirtualKeyCode: KEYS[key] ?? key.toUpperCase().charCodeAt(0), text: key.length === 1 ? key : key === "Enter" ? "\r" : undefined };
    await ask("Input.dispatchKeyEvent", { type: code.text ? "keyDown" : "rawKeyDown", ...code });
    await ask("Input.dispatchKeyEvent", { type: "keyUp", ...code });
  }

  return {
    complaints, evaluate, until, click, press,
    /* Ends when it is loaded; another hash of the same page is there at once. */
    async open(url) {
      const loaded = new Promise((resolve) => listen(({ method }) => { if (method === "Page.loadEventFired") resolve(); }));
      const { loaderId, errorText } = await ask("Page.navigate", { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
      if (loaderId) await loaded;
    },
    type: (text) => ask("Input.insertText", { text }),
    text: (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? null`),
    count: (selector) => evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`),
    resize: (size) => ask("Emulation.setDeviceMetricsOverride", { deviceScaleFactor: 1, mobile: false, ...size }),
    screenshot: async () => Buffer.from((await ask("Page.captureScreenshot", { format: "png" })).data, "base64"),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode === null) { send("Browser.close").catch(() => {}); await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())]); }
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
