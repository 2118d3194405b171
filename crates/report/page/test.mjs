// Tries a page in headless Chromium: node test.mjs CHROMIUM PAGE FOLDER [hostile] [KIND…]. The page has to have a finding of
// each KIND; with answer-KIND, it has to show that answer. Screenshots go to FOLDER.
//
// Speaks the DevTools protocol over a pipe, so that nothing has to be installed beside the browser.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [chromium, page, folder, ...more] = process.argv.slice(2);
const hostile = more.includes("hostile");
const wanted = more.filter((word) => word !== "hostile");
const answer = more.find((word) => word.startsWith("answer-"))?.slice("answer-".length);
const profile = mkdtempSync(join(tmpdir(), "reweave-page-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", `--user-data-dir=${profile}`, "--remote-debugging-pipe"];
const browser = spawn(chromium, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
const waiting = new Map();
const problems = [];
let buffer = "";
let last = 0;
browser.stdio[4].on("data", (bytes) => {
  buffer += bytes.toString("utf8");
  for (let end = buffer.indexOf("\0"); end >= 0; end = buffer.indexOf("\0")) {
    const message = JSON.parse(buffer.slice(0, end));
    buffer = buffer.slice(end + 1);
    if (message.id) waiting.get(message.id)?.(message);
    else if (message.method === "Runtime.exceptionThrown") problems.push(`exception: ${message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text}`);
    else if (message.method === "Log.entryAdded" && message.params.entry.level === "error") problems.push(`console: ${message.params.entry.text}`);
    else if (message.method === "Runtime.consoleAPICalled" && message.params.type === "error") problems.push(`console: ${JSON.stringify(message.params.args)}`);
    else if (message.method === "Network.requestWillBeSent" && !/^(file|data):/.test(message.params.request.url)) problems.push(`network: ${message.params.request.url}`);
  }
});
let session;
const send = (method, params = {}) => new Promise((done, fail) => {
  const id = ++last;
  waiting.set(id, (message) => (message.error ? fail(new Error(`${method}: ${message.error.message}`)) : done(message.result)));
  browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
});
const run = async (expression) => {
  const result = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (result.exceptionDetails) throw new Error(`${expression}: ${result.exceptionDetails.exception?.description}`);
  return result.result.value;
};
const url = pathToFileURL(resolve(page)).href;
const check = (holds, what) => { if (!holds) problems.push(what); };
const key = async (name) => {
  const text = name.length === 1 ? { text: name } : {};
  await send("Input.dispatchKeyEvent", { type: "keyDown", key: name, ...text });
  await send("Input.dispatchKeyEvent", { type: "keyUp", key: name });
};
const until = async (expression, what) => {
  for (let round = 0; round < 1200; round++) {
    if (await run(expression)) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  problems.push(`never: ${what}`);
};
const screenshot = async (name) => {
  const { data } = await send("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
};
const size = (width, height) => send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
const theme = (value) => send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }, { name: "prefers-reduced-motion", value: "reduce" }] });

/** The least contrast of text that is seen against what is behind it, and where. */
const CONTRAST = `(() => {
  const parse = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return { rgb: text.startsWith("color(") ? c.slice(0, 3).map((x) => x * 255) : c.slice(0, 3), a: c[3] ?? 1 }; };
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  let worst = [21, ""];
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) || element.closest(".sr, .skip, script, style, noscript, .veil")) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || getComputedStyle(element).visibility === "hidden") continue;
    let behind = [255, 255, 255]; const layers = [];
    for (let up = element; up; up = up.parentElement) layers.unshift(parse(getComputedStyle(up).backgroundColor));
    for (const layer of layers) behind = behind.map((v, i) => v * (1 - layer.a) + layer.rgb[i] * layer.a);
    const [a, b] = [light(parse(getComputedStyle(element).color).rgb), light(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.className + ": " + element.textContent.slice(0, 30)];
  }
  return worst;
})()`;

async function main() {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  await size(1400, 1000);
  await theme("light");
  await send("Page.navigate", { url });
  await until("document.querySelectorAll('.item').length > 0", "a list of findings");
  check(await run("window.broken === undefined"), "a name of the trace ran as script");
  if (hostile) {
    check(await run("document.querySelectorAll('img, iframe, object, b').length === 0"), "a name of the trace became markup");
    check(await run("!/[\\u202e\\u2066]/.test(document.body.innerText)"), "a name changes the direction of text");
    for (const id of await run("[...document.querySelectorAll('.item')].map((item) => item.getAttribute('href'))")) {
      await run(`location.hash = ${JSON.stringify(id)}`);
      await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(id)}`, `finding ${id}`);
    }
    await screenshot("hostile");
    return;
  }
  if (answer) return answered();
  await until("document.querySelector('.caption strong') !== null", "the page opens at the bug");
  await screenshot("light");
  await key("Home");
  check(await run("document.querySelector('.caption strong') === null && document.querySelector('input[type=range]').value === '0'"), "Home leads to the start");
  const steps = Number(await run("document.querySelector('input[type=range]').max"));
  for (let step = 0; step < steps; step++) await key("ArrowRight");
  check(await run("document.querySelector('.caption strong') !== null"), "the steps lead to the bug");
  check(await run("document.querySelectorAll('.witness .row.key').length > 0 && document.querySelectorAll('.weft.key').length > 0"), "the bug's events are marked, and cross");
  check(await run("document.querySelector('input[type=range]').getAttribute('aria-valuetext').startsWith('step ')"), "the slider speaks");
  await run("document.querySelector('input[type=range]').value = '1'; document.querySelector('input[type=range]').dispatchEvent(new Event('input'))");
  await until("/@1$/.test(location.hash)", "the address follows the slider");
  const link = await run("location.hash");
  await send("Page.navigate", { url: "about:blank" });
  await send("Page.navigate", { url: url + link });
  await until("document.querySelector('input[type=range]')?.value === '1'", "a link leads to its step");
  const all = await run("document.querySelectorAll('.item').length");
  await key("/");
  await send("Input.insertText", { text: "no such thing" });
  await until("document.querySelectorAll('.item').length === 0", "the filter hides what does not match");
  await run("const q = document.getElementById('q'); q.value = ''; q.dispatchEvent(new Event('input')); document.activeElement.blur()");
  check(await run("document.querySelectorAll('.item').length") === all, "without the filter all are there again");
  if (all > 1) {
    await key("k"); await key("j");
    await until("document.querySelector('.item[aria-current]') !== null", "j and k choose findings");
    const chip = await run("document.querySelector('.chip')?.click(); document.querySelectorAll('.item').length");
    check(chip < all || (await run("document.querySelectorAll('.chip').length")) < 2, "a kind filters the list");
    await run("document.querySelector('.chip')?.click()");
  }
  // Where there is one finding, no other one was open in between.
  await key("b");
  await kinds();
  if (wanted.includes("recorded")) await recorded();
  if (wanted.includes("unfold")) await unfolding();
  await run(`location.hash = ${JSON.stringify(link.replace(/@.*/, ""))}`);
  await key("b");
  await theme("dark");
  await screenshot("dark");
  await key("t");
  check(await run("document.documentElement.dataset.theme === 'light'"), "t changes the theme");
  await size(375, 800);
  await until("document.querySelector('.board.single') !== null", "a narrow page shows one order at a time");
  check(await run("document.documentElement.scrollWidth <= 375"), "a narrow page fits");
  await run("document.querySelector('[data-tab=observed]').click()");
  check(await run("document.querySelectorAll('.panel').length === 1 && document.querySelector('.panel.witness') === null"), "tabs change the order");
  await run("document.querySelector('[data-tab=witness]').click()");
  await screenshot("narrow");
  await size(1400, 1000);
  await printing(all);
}

/** What the page shows of an answer, by an expression. */
const ANSWERS = {
  refutation: ["document.querySelectorAll('.must').length === document.querySelectorAll('.chain li').length && document.querySelectorAll('.must.asked').length > 0 && document.querySelectorAll('.stop').length > 1", "the circle, with what was asked for in it"],
  query: ["document.querySelector('.listing pre').textContent.length > 0", "the schedule"],
  verification: ["document.querySelectorAll('.compared tbody tr').length > 0 && document.querySelector('.compared .sign') !== null", "what was there before, and after"],
  exploration: ["[...document.querySelectorAll('dt')].some((term) => term.textContent === 'Looked at') && document.querySelector('.listing pre') !== null", "how far it came, and its report"],
};

/** An answer that is no finding, in both themes and narrow. */
async function answered() {
  await until("document.querySelector('h1.verdict') !== null", "the page opens with the answer");
  const [holds, what] = ANSWERS[answer];
  check(await run(holds), `${answer}: ${what}`);
  check(await run("document.querySelector('.item.answer[aria-current]') !== null"), "the answer is in the list");
  for (const scheme of ["light", "dark"]) {
    await theme(scheme);
    const [ratio, where] = await run(CONTRAST);
    check(ratio >= 4.5, `${answer}: contrast ${ratio.toFixed(2)} in the ${scheme} theme: ${where}`);
    await screenshot(`answer-${answer}-${scheme}`);
  }
  await size(375, 800);
  await run("location.hash = 'answer'");
  await until("document.body.dataset.view === 'detail'", "a narrow page shows the answer alone");
  check(await run("document.documentElement.scrollWidth <= 375"), "a narrow page fits");
  await screenshot(`answer-${answer}-narrow`);
}

/** What the page shows of a kind besides its moment, by an expression. */
const MOMENTS = {
  race: ["document.querySelectorAll('.witness .row.moment').length === 2 && document.querySelector('.witness .clash') !== null", "both accesses are joined"],
  deadlock: ["document.querySelectorAll('.witness .clash').length > 1 && document.querySelectorAll('.status.blocked').length > 1", "the circle of who waits for whom"],
  uaf: ["document.querySelector('.vals .gone') !== null && [...document.querySelectorAll('.witness .verb')].filter((verb) => /^(allocate|free)$/.test(verb.textContent)).length > 1", "the life of the memory"],
  atomicity: ["document.querySelectorAll('.witness .row.key').length > 2 && document.querySelector('.lead.wrong') !== null", "both halves, what comes between, and what goes wrong"],
  order: ["document.querySelectorAll('.witness .row.key').length > 0", "the events in the wrong order"],
};

/** Every finding, at its moment, in both themes. */
async function kinds() {
  const found = await run("JSON.parse(document.getElementById('data').textContent).results.flatMap((result) => result.findings.map((one) => [one.kind, one.pattern, one.fingerprint.slice(0, 8)]))");
  for (const [kind, pattern, id] of found) {
    await run(`location.hash = ${JSON.stringify(id)}`);
    await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(`#${id}`)}`, `finding ${id}`);
    const which = `${kind} ${pattern} ${id}`;
    // The finding may be the one that was open, at another step: then only the moment says that the page has followed.
    await until("(document.querySelector('.caption strong')?.textContent ?? '') !== '' && document.querySelector('.witness .cry') !== null", `${which}: its moment`);
    const [holds, what] = MOMENTS[kind];
    check(await run(holds), `${which}: ${what}`);
    if (pattern === "call-order") check(await run("document.querySelector('.lead.wrong')?.textContent.includes('tier:')"), `${which}: the rule of the specification`);
    check(await run("document.querySelector('.cmd code').textContent.startsWith('reweave replay ')"), `${which}: the command that replays it`);
    check(await run("[...document.querySelectorAll('button, input, [role=tab]')].every((one) => one.getAttribute('aria-label') || one.textContent.trim())"), `${which}: a control without a label`);
    for (const scheme of ["light", "dark"]) {
      await theme(scheme);
      const [ratio, where] = await run(CONTRAST);
      check(ratio >= 4.5, `${which}: contrast ${ratio.toFixed(2)} in the ${scheme} theme: ${where}`);
    }
    if (!seen.has(kind)) await screenshot(`kind-${kind}`);
    seen.add(kind);
  }
  for (const kind of wanted.filter((word) => MOMENTS[word])) check(seen.has(kind), `no finding of the kind ${kind}`);
}
const seen = new Set();

/** What only a recorded program has: lines of its source, and what it wrote in both orders. */
async function recorded() {
  const found = await run("JSON.parse(document.getElementById('data').textContent).results.flatMap((result) => result.findings.filter((one) => one.kind === 'race').map((one) => one.fingerprint.slice(0, 8)))");
  check(found.length > 0, "no race to show");
  for (const id of found) {
    await run(`location.hash = ${JSON.stringify(id)}`);
    await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(`#${id}`)}`, `race ${id}`);
    await until("document.querySelector('.caption strong') !== null", `race ${id} at its moment`);
    check(await run("document.querySelectorAll('.card .src .ln.at.hot').length >= 2"), `race ${id}: the lines of both accesses`);
    check(await run("[...document.querySelectorAll('.card .src .ln.at')].every((line) => line.querySelector('code').textContent.trim() !== '' && Number(line.querySelector('i').textContent) > 0)"), `race ${id}: lines with their number and text`);
    check(await run("document.querySelectorAll('.pair figure').length === 2 && [...document.querySelectorAll('.pair figcaption')].every((caption) => / first: confirmed/.test(caption.textContent))"), `race ${id}: what the program did in each order, side by side`);
    check(await run("(() => { const [a, b] = [...document.querySelectorAll('.pair figure')].map((figure) => figure.getBoundingClientRect()); return Math.abs(a.top - b.top) < 2 && a.right <= b.left; })()"), `race ${id}: the outputs stand beside each other`);
    check(await run("document.querySelector('.fact.confirmed') !== null"), `race ${id}: that it was confirmed`);
  }
  await run("document.querySelector('.pair').scrollIntoView({ block: 'end' })");
  await screenshot("outputs");
  await run("window.scrollTo(0, 0)");
}

/** Folded events: a click shows the next hundred, `e` those of all folds. */
async function unfolding() {
  const inner = (where) => run(`document.querySelectorAll('${where} .row.inner').length`);
  const click = () => run("document.querySelector('.panel.witness .row.fold .hit').click()");
  const apart = "(() => { const tops = [...document.querySelectorAll('.panel.witness .row:not(.shared)')].map((row) => row.offsetTop).sort((a, b) => a - b); return tops.every((top, at) => at === 0 || top - tops[at - 1] >= 24); })()";
  check(await inner(".stage") === 0, "folds begin closed");
  const sizes = [];
  for (let round = 0; round < 4; round++) {
    await click();
    sizes.push(await inner(".panel.witness"));
    check(await run(apart), `rows lie over each other with ${sizes.at(-1)} unfolded`);
    if (round === 0) {
      check(await run("document.activeElement?.matches('.fold .hit') === true && document.activeElement.getAttribute('aria-expanded') === 'true'"), "the keyboard stays at the fold");
      check(await run("/^100 of /.test(document.querySelector('.panel.witness .fold .label').textContent)"), "a fold says how much of it is shown");
      await screenshot("unfolded");
    }
    if (round === 1) check(await run("document.querySelector('.panel.witness .fold .label').textContent.includes('the page has no more')"), "what is not in the page is said");
  }
  check(JSON.stringify(sizes) === "[100,200,0,100]", `a fold opens by a hundred, and closes: ${sizes}`);
  await key("b");
  check(await run("document.querySelector('.caption strong') !== null && document.querySelector('.witness .clash') !== null"), "the bug is where it was");
  await run("document.activeElement.blur()");
  await key("e");
  check(await inner(".panel.witness") > 100 && await inner(".panel:not(.witness)") >= 100, "e unfolds both orders");
  for (let round = 0; round < 5 && await inner(".stage") > 0; round++) await key("e");
  check(await inner(".stage") === 0, "e folds them again where all were shown");
}

/** The open finding, and all of them, as they are printed. */
async function printing(all) {
  const { data } = await send("Page.printToPDF", { printBackground: true });
  writeFileSync(join(folder, "print.pdf"), Buffer.from(data, "base64"));
  await run("window.print = () => { window.printed = document.querySelectorAll('#sheets .sheet .board, #sheets .sheet .none').length; }; document.querySelector('.print')?.click()");
  if (all > 1) {
    check(await run("window.printed") === all, "all findings are printed");
    check(await run("[...document.querySelectorAll('#sheets .stage')].every((stage) => stage.scrollWidth <= 720)"), "a sheet is not wider than paper");
    const paper = await send("Page.printToPDF", { printBackground: true });
    writeFileSync(join(folder, "print-all.pdf"), Buffer.from(paper.data, "base64"));
  }
  await run("window.dispatchEvent(new Event('afterprint'))");
  check(await run("document.getElementById('sheets') === null && !document.documentElement.classList.contains('printing')"), "after printing the page is as before");
  await send("Emulation.setEmulatedMedia", { media: "print", features: [] });
  check(await run("getComputedStyle(document.getElementById('list')).display === 'none'"), "the list is not printed");
  await send("Page.navigate", { url: "about:blank" });
  await size(700, 1000);
  await send("Page.navigate", { url });
  await until("document.querySelector('.board') !== null", "the page opens");
  check(await run("getComputedStyle(document.getElementById('detail')).display !== 'none'"), "what is printed of a page that was just opened is a finding");
}

const limit = setTimeout(() => { problems.push("it took too long"); end(); }, 240_000);
function end() {
  clearTimeout(limit);
  // With all that it started.
  process.kill(-browser.pid, "SIGKILL");
  browser.on("exit", () => {
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    for (const problem of problems) console.log(problem);
    process.exit(problems.length > 0 ? 1 : 0);
  });
}
main().catch((error) => problems.push(String(error))).finally(end);
