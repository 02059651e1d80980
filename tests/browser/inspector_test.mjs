/*
 * inspector_test.mjs: the inspector of a running engine, under real clicks and keys. The engine is at $ADMIN and has the order "one"
 * that waits for a person, "<img src=x>" in what it holds, "strange", whose ids no XML allows, and "lost", which has failed. $TOKEN, where it wants one.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openBrowser } from "./browser.mjs";

const { BROWSER, ADMIN, TOKEN } = process.env;
let page;
const engine = async (path, body) => (await fetch(`${ADMIN}/v1/${path}`, {
  method: body ? "POST" : "GET", body: body && JSON.stringify(body), headers: TOKEN ? { Authorization: `Bearer ${TOKEN}` } : {} })).json();
const sees = (selector, text) => page.until(`document.querySelector(${JSON.stringify(selector)})?.innerText.includes(${JSON.stringify(text)})`);
const press = (text, within = "body") => page.evaluate(`[...document.querySelectorAll(${JSON.stringify(`${within} button`)})].find((one) => one.textContent === ${JSON.stringify(text)})?.setAttribute("data-press", "")`)
  .then(() => page.click("[data-press]")).then(() => page.evaluate("document.querySelector('[data-press]')?.removeAttribute('data-press')"));
const go = async (hash) => { await page.evaluate(`location.hash = ${JSON.stringify(hash)}`); };

before(async () => {
  page = await openBrowser(BROWSER);
  await page.open(`${ADMIN}/`);
});
after(() => page?.close());

if (TOKEN) {
  test("it asks for the token, says when it is wrong, and keeps it in this tab", async () => {
    await page.until("document.getElementById('dialog').open");
    await page.type("wrong");
    await page.press("Enter");
    await sees("#dialog", "does not know this token");
    await page.type(TOKEN);
    await page.press("Enter");
    await page.until("!document.getElementById('dialog').open");
    assert.equal(await page.evaluate("sessionStorage.length + localStorage.length"), 1);
  });
}

test("the list shows the executions, newest first", async () => {
  await page.until("document.querySelectorAll('tbody tr').length === 3");
  assert.match(await page.text("tbody tr:first-child"), /lost/);
  assert.match(await page.text("tbody tr:last-child"), /Waiting for a person/);
  await sees("#live", "Live");
});

test("an execution that starts meanwhile shows up by itself", async () => {
  await engine("executions", { process: "order", projectId: "shop", workspaceId: "shop", executionId: "two", request: { total: 300 } });
  await page.until("document.querySelector('tbody tr')?.innerText.includes('two')");
  await sees("tbody tr:first-child", "Waiting for a person");
});

test("filters keep what they say", async () => {
  await page.evaluate("(() => { const one = document.querySelector('.filters select'); one.value = 'Error'; one.dispatchEvent(new Event('change')); })()");
  await page.until("document.querySelectorAll('tbody tr').length === 1");
  await sees("tbody", "lost");
  await go("view=executions&process=nonesuch");
  await sees("#page", "No execution matches");
});

test("a click on a row opens its replay, and the buttons step", async () => {
  await go("view=executions");
  await page.click('tbody a[href="#execution=one"]');
  await sees("#step-number", "Step 4 of 4");
  await page.until("document.querySelector('[data-element-id=approve].waits')");
  await page.click("#previous");
  await sees("#step-number", "Step 3 of 4");
  await page.press("Home");
  await sees("#step-number", "Step 1 of 4");
  assert.equal(await page.evaluate("location.hash"), "#execution=one&step=1");
  await page.press("End");
});

test("text of payloads stays text", async () => {
  await page.click("#tab-payloads");
  await sees("#pane", "<img src=x>");
  assert.equal(await page.count("img"), await page.count(".bjs-powered-by img"));
});

test("an operator suspends and resumes it, after a question", async () => {
  await press("Suspend", "#verbs");
  await sees("#dialog", "stands still");
  await page.press("Escape");
  await page.until("!document.getElementById('dialog').open");
  assert.equal((await engine("executions/one")).suspended, undefined);
  await press("Suspend", "#verbs");
  await press("Suspend", "#dialog");
  await sees("#verbs", "Resume");
  assert.equal((await engine("executions/one")).suspended, true);
  await press("Resume", "#verbs");
  await press("Resume", "#dialog");
  await sees("#verbs", "Suspend");
});

test("a decision is sent as JSON; what is none is said so", async () => {
  await press("Answer", "#waits");
  await page.until("document.activeElement.tagName === 'TEXTAREA'");
  await page.evaluate("document.activeElement.select()");
  await page.type("{approved}");
  await press("Send", "#dialog");
  await sees("#dialog [role=alert]", "cannot be sent");
  await page.evaluate("document.querySelector('textarea').select()");
  await page.type('{"approved": true, "serial": 12345678901234567890}');
  await press("Send", "#dialog");
  await sees("#steps", "Pack the parcel");
  await sees("#waits", "deliver");
  const reply = await fetch(`${ADMIN}/v1/executions/one?include=payloads`, { headers: TOKEN ? { Authorization: `Bearer ${TOKEN}` } : {} });
  assert.match(await reply.text(), /12345678901234567890/);
});

/* What stands in a field of the dialog. */
const put = async (label, text) => {
  await page.evaluate(`document.querySelector('#dialog [aria-label=${JSON.stringify(label)}]').select()`);
  await page.evaluate(`document.querySelector('#dialog [aria-label=${JSON.stringify(label)}]').focus()`);
  await page.type(text);
};

test("an execution is started from the list, with its request as it was written", async () => {
  await go("view=executions");
  await page.until("document.body.dataset.ready === 'executions'");
  await press("Start", ".acts");
  await page.until("document.activeElement.tagName === 'TEXTAREA'");
  await page.evaluate(`(() => { const one = document.querySelector('#dialog select'); one.value = [...one.options].find((option) => option.textContent.includes('odd')).value; })()`);
  await put("Request (JSON)", '{"big": 12345678901234567890');
  await press("Start", "#dialog");
  await sees("#dialog [role=alert]", "cannot be sent");
  await put("Request (JSON)", '{"big": 12345678901234567890}');
  await put("Execution id (optional)", "by hand");
  await press("Start", "#dialog");
  await sees("#dialog [role=alert]", "InvalidRequest");
  await put("Execution id (optional)", "by-hand");
  await press("Start", "#dialog");
  await page.until("location.hash.startsWith('#execution=by-hand')");
  await sees("#waits", "two <b>");
  const reply = await fetch(`${ADMIN}/v1/executions/by-hand?include=payloads`, { headers: TOKEN ? { Authorization: `Bearer ${TOKEN}` } : {} });
  assert.match(await reply.text(), /12345678901234567890/);
});

test("it is migrated to a version that has a counterpart of where it stands, and to no other", async () => {
  const odd = (id) => JSON.stringify({ id: "odd", nodes: [{ id: "1", type: "trigger_manual" }, { id, type: "human_task" }], edges: [{ id: "10", source: "1", target: id }] });
  await press("Migrate", "#verbs");
  await sees("#dialog", "There is no other version");
  await press("Close", "#dialog");
  await engine("definitions", { name: "odd.json", content: odd("three") });
  await press("Migrate", "#verbs");
  await sees("#dialog select", "v2");
  await press("Migrate", "#dialog");
  await sees("#dialog [role=alert]", "InvalidRequest");
  await put("Mapping of ids (JSON)", '{"two <b>": "three"}');
  await press("Migrate", "#dialog");
  await page.until("!document.getElementById('dialog').open");
  await sees("#waits", "three");
  await sees("#facts", "2");
  assert.equal((await engine("executions/by-hand")).version, 2);
});

test("it is deleted after a question, and is nowhere then", async () => {
  await press("Delete", "#verbs");
  await sees("#dialog", "does not come back");
  await press("Cancel", "#dialog");
  assert.equal((await engine("executions/by-hand")).version, 2);
  await press("Delete", "#verbs");
  await press("Delete", "#dialog");
  await page.until("location.hash === '#view=executions'");
  await page.until("document.body.dataset.ready === 'executions'");
  assert.equal((await engine("executions/by-hand")).error.code, "SessionNotFound");
  assert.doesNotMatch(await page.text("tbody"), /by-hand/);
});

test("one that ran elsewhere is imported; what cannot have happened is said", async () => {
  await press("Import", ".acts");
  await page.until("document.activeElement.tagName === 'TEXTAREA'");
  await put("Import (JSON)", '{"process": "odd", "version": 1, "executionId": "taken", "active": [{"node": "größe", "wait": true}], "passed": ["10"]}');
  await press("Import", "#dialog");
  await sees("#dialog [role=alert]", "InvalidRequest");
  await put("Import (JSON)", '{"process": "odd", "version": 1, "executionId": "taken", "active": [{"node": "größe", "wait": true}], "passed": ["10", "20"]}');
  await press("Import", "#dialog");
  await page.until("location.hash.startsWith('#execution=taken')");
  await sees("#waits", "größe");
  await press("Delete", "#verbs");
  await press("Delete", "#dialog");
  await page.until("location.hash === '#view=executions'");
});

test("tasks of people are listed and lead to their execution", async () => {
  await go("view=tasks");
  await sees("tbody", "Approve the order");
  assert.match(await page.text("tbody"), /clerk, sales/);
  assert.equal(await page.count("tbody tr"), 2);
});

test("definitions show their triggers", async () => {
  await go("view=definitions");
  await sees("tbody", "orders/new");
  await sees("tbody", "0 0 3 * * *");
});

test("a version is started from the definitions", async () => {
  await press("Start", "tbody tr:has(.mono)");
  await sees("#dialog", "Version");
  await page.press("Escape");
  await page.until("!document.getElementById('dialog').open");
});

test("what has ids that XML does not allow is drawn and marked, too", async () => {
  await go("execution=strange");
  await sees("#step-id, #step-name", "two <b>");
  await page.until("document.querySelectorAll('.djs-element.djs-connection').length === 2");
  assert.equal(await page.count(".djs-element.djs-shape.waits"), 1);
  assert.equal(await page.count(".djs-element.djs-connection.visited"), 1);
  await page.click(".djs-element.djs-shape.visited:not(.waits) .djs-hit");
  await sees("#step-number", "Step 1 of 2");
});

test("one that failed says why and can be aborted no more", async () => {
  await go("execution=lost");
  await sees("#verbs", "Retry");
  await sees("#details", "NoPathTaken");
  assert.doesNotMatch(await page.text("#verbs"), /Abort/);
});

test("one that is not there is said so", async () => {
  await go("execution=%3Cb%3Enobody");
  await sees("#page", "InvalidRequest");
  await go("execution=nobody");
  await sees("#page", "SessionNotFound");
});

test("it fits a narrow screen", async () => {
  await page.resize({ width: 390, height: 800 });
  for (const hash of ["view=executions", "view=tasks", "view=definitions", "execution=one"]) {
    await go(hash);
    await page.until(`document.body.dataset.ready === ${JSON.stringify(hash.startsWith("execution") ? "execution" : hash.slice(5))}`);
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash);
  }
});

/* A browser tells each answer that is an error on the console: those that were provoked here. */
test("nothing else stands on the console", () => {
  assert.deepEqual(page.complaints.filter((one) => !/status of (401|400|404)/.test(one)), []);
});
