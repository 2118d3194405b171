// Tries a page in headless Chromium: node test.mjs CHROMIUM PAGE FOLDER [hostile] [KIND…]. The page has to have a finding of
// each KIND; with answer-KIND, it has to show that answer; picture-KIND only takes a picture, and time
// only says how long it took to open. Screenshots go to FOLDER.
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

/**
 * The least contrast of text that is seen against what is behind it, where, and how many texts there were. What lies over a text,
 * such as a wash, counts with its opacity; of a gradient behind it, the worst of its colours does.
 */
const CONTRAST = `(() => {
  const parse = (text) => { const c = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number); return { rgb: text.startsWith("color(") ? c.slice(0, 3).map((x) => x * 255) : c.slice(0, 3), a: c[3] ?? 1 }; };
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const over = (under, layer, opacity = 1) => under.map((v, i) => v * (1 - layer.a * opacity) + layer.rgb[i] * layer.a * opacity);
  const opacity = (element) => { let all = 1; for (let up = element; up; up = up.parentElement) all *= Number(getComputedStyle(up).opacity); return all; };
  const layers = (element) => {
    const style = getComputedStyle(element);
    const plain = [parse(style.backgroundColor)];
    const colours = style.backgroundImage.includes("gradient") ? style.backgroundImage.match(/(rgba?|color)\\([^)]*\\)/g).map(parse) : [];
    return { plain, colours, opacity: opacity(element) };
  };
  const sheet = document.styleSheets[0];
  const rule = sheet.insertRule("* { pointer-events: auto !important; transition: none !important }", sheet.cssRules.length);
  let worst = [21, ""]; let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    const words = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
    const holder = element.matches("input[type=search]:placeholder-shown");
    if (words.length === 0 && !holder || element.closest(".sr, .skip, script, style, noscript, title, option")) continue;
    const style = getComputedStyle(element);
    if (style.visibility === "hidden" || style.display === "none") continue;
    let box = element.getBoundingClientRect();
    if (words.length > 0) { const range = document.createRange(); range.selectNodeContents(words[0]); box = range.getClientRects()[0] ?? box; }
    if (box.width === 0 || box.height === 0) continue;
    const stack = document.elementsFromPoint(box.left + Math.min(box.width / 2, 6), box.top + box.height / 2);
    const at = stack.indexOf(element);
    // It is clipped, or scrolled out of its own box.
    if (at < 0) continue;
    count++;
    const below = stack.slice(at).reverse().map(layers);
    const above = stack.slice(0, at).filter((one) => !element.contains(one)).reverse().map(layers);
    const text = parse(holder ? getComputedStyle(element, "::placeholder").color : element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const choices = [[], ...below.flatMap((one) => one.colours.map((colour) => [one, colour]))];
    for (const [chosen, colour] of choices) {
      let behind = [255, 255, 255];
      for (const one of below) {
        for (const layer of one.plain) behind = over(behind, layer, one.opacity);
        if (one === chosen) behind = over(behind, colour, one.opacity);
      }
      let front = over(behind, text, opacity(element));
      for (const one of above) for (const layer of one.plain) { behind = over(behind, layer, one.opacity); front = over(front, layer, one.opacity); }
      const [a, b] = [light(front), light(behind)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < worst[0]) worst = [ratio, element.className + ": " + element.textContent.slice(0, 30)];
    }
  }
  sheet.deleteRule(rule);
  return [...worst, count];
})()`;

/** Tries the contrast of all that is there, at a height at which nothing is scrolled out of sight. */
async function contrast(what, width = 1400) {
  const tall = 6000;
  for (const scheme of ["light", "dark"]) {
    await theme(scheme);
    await size(width, tall);
    const [ratio, where, count] = await run(CONTRAST);
    check(ratio >= 4.5, `${what}: contrast ${ratio.toFixed(2)} in the ${scheme} theme: ${where}`);
    check(count > 5, `${what}: only ${count} texts were seen in the ${scheme} theme`);
  }
  await theme("light");
  await size(1400, 1000);
}

/** What an assistive technology is told: each control and each step has a name, and the slider its value. */
async function accessible() {
  const { nodes } = await send("Accessibility.getFullAXTree");
  const of = (...roles) => nodes.filter((node) => !node.ignored && roles.includes(node.role?.value));
  for (const node of of("button", "link", "slider", "tab", "searchbox", "textbox", "navigation", "main", "table", "list")) {
    const unnamed = !node.name?.value?.trim();
    // A list of a card or of entries is named by the heading before it.
    if (unnamed && !["list", "main"].includes(node.role.value)) problems.push(`a ${node.role.value} has no name for those who do not see it`);
  }
  const slider = of("slider")[0];
  // Its words are in aria-valuetext, which this tree has as a number.
  if (slider) check(slider.name.value === "Step of the witness" && slider.value?.value === Number(await run("document.querySelector('input[type=range]').value")), "the slider has no name or no value");
  check(of("heading").length > 1 && of("navigation").length === 1 && of("main").length === 1, "the page has its landmarks and headings");
  const steps = of("button").filter((node) => /^event \d+: \S+ \S+/.test(node.name?.value ?? ""));
  const rows = await run("document.querySelectorAll('.row.event .hit:not([data-shared])').length");
  check(steps.length === rows, `${steps.length} steps of ${rows} have a name in words`);
}

async function main() {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Log", "Network", "Accessibility"]) await send(`${domain}.enable`);
  await size(1400, 1000);
  await theme("light");
  const began = Date.now();
  await send("Page.navigate", { url });
  await until("document.querySelectorAll('.item').length > 0", "a list of findings");
  const took = Date.now() - began;
  // What there is to draw at first does not depend on how much was found; time would depend on the machine.
  const nodes = await run("document.querySelectorAll('*').length");
  check(nodes < 8000, `the page begins with ${nodes} elements`);
  if (wanted.includes("time")) return console.error(`${took} ms, ${nodes} elements`);
  check(await run("window.broken === undefined"), "a name of the trace ran as script");
  if (hostile) {
    check(await run("document.querySelectorAll('img, iframe, object, b').length === 0"), "a name of the trace became markup");
    check(await run("!/[\\u202e\\u2066]/.test(document.body.innerText)"), "a name changes the direction of text");
    for (const id of await run("[...document.querySelectorAll('.item')].map((item) => item.getAttribute('href'))")) {
      await run(`location.hash = ${JSON.stringify(id)}`);
      await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(id)}`, `finding ${id}`);
    }
    await screenshot("hostile");
    check(await run("[...document.querySelectorAll('.cmd code')].every((code) => !/[\\u0000-\\u001f\\u202e\\u2066\\u2028]/.test(code.textContent))"), "a command has characters that cannot be seen");
    return;
  }
  if (answer) return answered();
  if (wanted.includes("large")) return large();
  const kind = wanted.find((word) => word.startsWith("picture-"))?.slice("picture-".length);
  if (kind) return picture(kind);
  await until("document.querySelector('.caption strong') !== null", "the page opens at the bug");
  await screenshot("light");
  await accessible();
  await key("Home");
  await contrast("at the start, where all rows are ahead");
  await key("Home");
  check(await run("document.querySelectorAll('.witness .row.ahead').length > 0"), "rows that are ahead are known");
  check(await run("document.querySelector('.caption strong') === null && document.querySelector('input[type=range]').value === '0'"), "Home leads to the start");
  const steps = Number(await run("document.querySelector('input[type=range]').max"));
  for (let step = 0; step < steps; step++) await key("ArrowRight");
  check(await run("document.querySelector('.caption strong') !== null"), "the steps lead to the bug");
  check(await run("document.querySelectorAll('.witness .row.key').length > 0 && document.querySelectorAll('.weft.key').length > 0"), "the bug's events are marked, and cross");
  check(await run("document.querySelector('input[type=range]').getAttribute('aria-valuetext').startsWith('step ')"), "the slider speaks");
  await key("Home");
  await key(" ");
  check(await run("document.querySelector('.buttons button:nth-child(3)').textContent !== '▶'"), "space runs it");
  await until(`document.querySelector('.caption strong') !== null || Number(document.querySelector('input[type=range]').value) > 0`, "it runs by itself");
  await key(" ");
  check(await run("document.querySelector('.buttons button:nth-child(3)').textContent === '▶'"), "space stops it");
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
    const first = await run("document.querySelector('.item').getAttribute('href')");
    await run(`location.hash = ${JSON.stringify(first)}`);
    await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(first)}`, "the first finding");
    await key("j");
    await until(`document.querySelector('.item[aria-current]') !== null && document.querySelector('.item[aria-current]').getAttribute('href') !== ${JSON.stringify(first)}`, "j leads to the next finding");
    await key("k");
    await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(first)}`, "k leads back");
    await run(`location.hash = ${JSON.stringify(link)}`);
    await until("document.querySelector('input[type=range]')?.value === '1'", "the first link again");
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
  await contrast("narrow", 375);
  await size(375, 800);
  await run("location.hash = ''");
  await until("document.body.dataset.view === 'list'", "a narrow page shows the list alone");
  await screenshot("narrow-list");
  await contrast("the narrow list", 375);
  await run(`location.hash = ${JSON.stringify(link.replace(/@.*/, ""))}`);
  await until("document.body.dataset.view === 'detail'", "and the finding");
  await size(1400, 1000);
  await printing(all);
}

/** What the page shows of an answer, by an expression. */
const ANSWERS = {
  refutation: ["document.querySelectorAll('.must').length === document.querySelectorAll('.chain li').length && document.querySelectorAll('.must.asked').length > 0 && document.querySelectorAll('.stop').length > 1", "the circle, with what was asked for in it"],
  query: ["document.querySelector('.listing pre').textContent.length > 0", "the schedule"],
  verification: ["document.querySelectorAll('.compared tbody tr').length > 0 && document.querySelector('.compared .sign') !== null", "what was there before, and after"],
  pictures: ["document.querySelectorAll('.order').length === 2 && [...document.querySelectorAll('.order > h2')].map((title) => title.textContent).join() === 'Before the fix,After the fix' && [...document.querySelectorAll('.order')].every((order) => order.querySelectorAll('.row.event.key, .row.event.moment').length > 1 && order.querySelector('.cry') !== null) && document.querySelector('.compared .sign') !== null", "a picture of the bug before the fix, and of its events after it"],
  exploration: ["[...document.querySelectorAll('dt')].some((term) => term.textContent === 'Looked at') && ['Assumes', 'Estimate'].every((word) => [...document.querySelectorAll('dt')].some((term) => term.textContent === word)) && document.querySelector('.about-answer').textContent.includes('about 12.5 % of pass 2 over all states was done') && document.querySelector('.listing pre') !== null", "how far it came, and its report"],
};

/** An answer that is no finding, in both themes and narrow. */
async function answered() {
  await until("document.querySelector('h1.verdict') !== null", "the page opens with the answer");
  const [holds, what] = ANSWERS[answer];
  check(await run(holds), `${answer}: ${what}`);
  check(await run("document.querySelector('.item.answer[aria-current]') !== null"), "the answer is in the list");
  await accessible();
  await contrast(answer);
  await run("location.hash = 'answer'");
  await contrast(`${answer}, narrow`, 375);
  for (const scheme of ["light", "dark"]) {
    await theme(scheme);
    await screenshot(`answer-${answer}-${scheme}`);
  }
  await size(375, 800);
  await run("location.hash = 'answer'");
  await until("document.body.dataset.view === 'detail'", "a narrow page shows the answer alone");
  // Pictures are drawn anew once the page has its new width.
  await until("document.documentElement.scrollWidth <= 375", "a narrow page fits");
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
    await contrast(which);
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
      await contrast("with a fold open");
      await key("Home");
      await contrast("with a fold open and all ahead");
      await key("b");
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

/** One finding of a kind at its moment, of the size at which it stands in the guide. */
async function picture(kind) {
  const id = await run(`JSON.parse(document.getElementById('data').textContent).results.flatMap((result) => result.findings).find((one) => one.kind === ${JSON.stringify(kind)}).fingerprint.slice(0, 8)`);
  await size(1240, 680);
  await run(`location.hash = ${JSON.stringify(id)}`);
  await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(`#${id}`)} && document.querySelector('.caption strong') !== null`, `finding ${id}`);
  await screenshot("picture");
  writeFileSync(join(folder, "picture.txt"), id);
}

/** A page with more findings than its list draws at first. */
async function large() {
  const about = "JSON.parse(document.getElementById('data').textContent)";
  const there = await run(`${about}.results.flatMap((result) => result.findings).length`);
  const items = () => run("document.querySelectorAll('.item').length");
  const first = await items();
  check(first < there && first >= 100 && first <= 200, `${first} of ${there} entries are drawn at first`);
  const said = await run(`document.querySelector('.about').textContent.includes(${about}.about.findings.toLocaleString('en') + ' findings')`);
  check(said, "the list says how many findings there are in all");
  check(await run(`!${about}.not_listed || document.querySelector('.about').textContent.includes('only in the JSON')`), "and how many the page does not have");
  await run("document.querySelector('.rest').scrollIntoView()");
  await until(`document.querySelectorAll('.item').length > ${first}`, "more are drawn when they come into sight");
  // The last of all is found by its name and by its address, though it was never drawn.
  const last = await run(`${about}.results.at(-1).findings.at(-1)`);
  await run(`const q = document.getElementById('q'); q.value = ${JSON.stringify(last.target)}; q.dispatchEvent(new Event('input'))`);
  await until("document.querySelectorAll('.item').length > 0 && document.querySelectorAll('.item').length < 10", "the filter finds what was not drawn");
  await run("const p = document.getElementById('q'); p.value = ''; p.dispatchEvent(new Event('input'))");
  check(await items() === first, "without a filter the list is at its beginning");
  await run(`location.hash = ${JSON.stringify(last.fingerprint.slice(0, 8))}`);
  await until(`document.querySelector('.item[aria-current]')?.getAttribute('href') === ${JSON.stringify(`#${last.fingerprint.slice(0, 8)}`)}`, "an address leads to what was not drawn");
  check(last.witness !== undefined || await run("document.querySelector('.none') !== null && document.querySelectorAll('.sites li').length > 0 && document.querySelector('.cmd code').textContent.startsWith('reweave replay ')"), "what has no picture has its sites and its command");
  await contrast("a large page");
  await screenshot("large");
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
  const [ratio, where, count] = await run(CONTRAST);
  check(ratio >= 4.5 && count > 10, `in print: contrast ${ratio.toFixed(2)}: ${where}, of ${count} texts`);
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
