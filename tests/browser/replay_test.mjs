/*
 * replay_test.mjs: the page of a replay under real clicks and keys. $PAGE: the file, of an order that has come to its end (11 steps).
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openBrowser } from "./browser.mjs";

let page;
before(async () => {
  page = await openBrowser(process.env.BROWSER);
  await page.open(`file://${process.env.PAGE}`);
  await page.until("document.body.dataset.ready");
});
after(() => page?.close());

const at = (step) => page.until(`document.getElementById("step-number").textContent === "Step ${step} of 11"`, "document.getElementById('step-number').textContent");
const here = () => page.evaluate("document.querySelector('.djs-element.djs-shape.here')?.dataset.elementId");

test("it opens at the last step", async () => {
  await at(11);
  assert.equal(await page.evaluate("document.getElementById('next').disabled"), true);
});

test("its buttons go to the first, next, previous and last step", async () => {
  await page.click("#first");
  await at(1);
  assert.equal(await here(), "received");
  await page.click("#next");
  await at(2);
  assert.equal(await here(), "check");
  await page.click("#previous");
  await at(1);
  assert.equal(await page.evaluate("document.getElementById('previous').disabled"), true);
  await page.click("#last");
  await at(11);
});

test("a click on a step and a click on a node go there", async () => {
  await page.click("#steps li:nth-child(4) button");
  await at(4);
  assert.equal(await here(), "approve");
  await page.click('[data-element-id="charge"] .djs-hit');
  await at(7);
});

test("arrows, Home and End step, and the address keeps the step", async () => {
  await page.press("Home");
  await at(1);
  await page.press("ArrowRight");
  await page.press("ArrowRight");
  await at(3);
  await page.press("ArrowLeft");
  await at(2);
  assert.equal(await page.evaluate("location.hash"), "#step=2");
  await page.press("End");
  await at(11);
});

test("space plays to the end and stops there", async () => {
  await page.click("#steps li:nth-child(9) button");
  await page.evaluate("document.activeElement.blur()");
  await page.press(" ");
  await page.until("document.body.classList.contains('playing')");
  await at(11);
  await page.until("!document.body.classList.contains('playing')");
});

test("tabs change by click and by arrow, and the arrow does not step", async () => {
  await page.click("#tab-payloads");
  assert.match(await page.text("#pane"), /request/);
  await page.press("ArrowRight");
  await page.until("document.getElementById('tab-tokens').getAttribute('aria-selected') === 'true'");
  await at(11);
});

test("another step in the address is another step on the page", async () => {
  await page.evaluate("location.hash = 'step=5'");
  await at(5);
});

test("dark is dark", async () => {
  const ground = "getComputedStyle(document.documentElement).backgroundColor";
  const light = await page.evaluate(ground);
  await page.click("#theme");
  assert.notEqual(await page.evaluate(ground), light);
});

test("nothing stands on the console", () => assert.deepEqual(page.complaints, []));
