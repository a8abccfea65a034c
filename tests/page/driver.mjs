// Drives a real browser for a test: a line of JSON in, a line of JSON out.
// Usage: node driver.mjs FOLDER_WITH_NODE_MODULES BROWSER
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, executablePath] = process.argv.slice(2);
const require = createRequire(join(folder, "node_modules", "x"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await puppeteer.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*"],
});
const tabs = new Map();

const acts = {
  // A browser of its own, without anybody else's cookies.
  async open({ tab, url, scheme = "light", width = 1200, height = 900, in: beside }) {
    const context = beside ? tabs.get(beside).context : await browser.createBrowserContext();
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("dialog", (dialog) => {
      errors.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
    tabs.set(tab, { page, context, errors });
    await page.goto(url);
  },
  // What is behind another tab is not drawn, and takes no key.
  front: ({ tab }) => tabs.get(tab).page.bringToFront(),
  press: ({ tab, key }) => tabs.get(tab).page.keyboard.press(key),
  type: ({ tab, text }) => tabs.get(tab).page.keyboard.type(text),
  click: ({ tab, selector }) => tabs.get(tab).page.click(selector),
  read: ({ tab, script }) => tabs.get(tab).page.evaluate(script),
  wait: async ({ tab, script, ms = 20000 }) => {
    const handle = await tabs.get(tab).page.waitForFunction(script, { timeout: ms, polling: 20 });
    return handle.jsonValue();
  },
  cookies: ({ tab }) => tabs.get(tab).context.cookies(),
  shot: ({ tab, path, full = false }) => tabs.get(tab).page.screenshot({ path, fullPage: full }).then(() => null),
  metrics: ({ tab }) => tabs.get(tab).page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null`),
  errors: ({ tab }) => tabs.get(tab).errors.splice(0),
  async accessible({ tab }) {
    const { page } = tabs.get(tab);
    await page.evaluate(axe);
    const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] })`);
    return found.violations.map((one) => ({ id: one.id, impact: one.impact, nodes: one.nodes.map((node) => node.html.slice(0, 200)) }));
  },
  close: ({ tab }) => tabs.get(tab).page.close(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const act = JSON.parse(line);
  let answer;
  try {
    answer = { done: (await acts[act.do](act)) ?? null };
  } catch (error) {
    answer = { failed: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
