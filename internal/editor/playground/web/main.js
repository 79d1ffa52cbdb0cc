import * as engine from "./engine.js";
import { Editor } from "./editor.js";
import { element } from "./element.js";
import { decode, encode } from "./link.js";

const $ = (id) => document.getElementById(id);

// What becomes of a value: a sign, since colours alone say nothing to many, and a name.
const kinds = {
  copied: ["=", "copied"], moved: ["→", "moved"], computed: ["ƒ", "computed"], kept: ["⚑", "kept in an annotation"],
  restored: ["↺", "restored from an annotation"], dropped: ["✕", "dropped"], added: ["+", "added"],
};
const signs = { error: "✕", warning: "!", note: "i" };
const pause = 180; // ms without a key before an evaluation
const apart = 1500; // ms between two edits that are two steps
const most = 100; // steps
const lawObjects = 100;

// The text is the object as it is edited, on the side `origin`; the other side is what it becomes.
let state = { crd: "", rules: "", text: "", left: "", right: "", origin: "left" };
let out = null; // the last answer
let examples = [];
let steps = [], step = -1;
let heldTo = { ...state }; // what the last laws were about
let timer = 0, running = null, asked = 0;

const editors = {
  rules: new Editor($("rules"), "Conversion rules, YAML", "Paste a Conversion, or press Suggest rules.", () => edited("rules")),
  crd: new Editor($("crd"), "CustomResourceDefinition, YAML", "Paste a CustomResourceDefinition: kubectl get crd NAME -o yaml", () => edited("crd")),
  left: new Editor($("left"), "Object on the left, YAML", "Paste an object, or press Random object.", () => edited("left"), drawSoon),
  right: new Editor($("right"), "Object on the right, YAML", "What the object becomes. You can edit it, too.", () => edited("right"), drawSoon),
};
const other = (side) => (side === "left" ? "right" : "left");

// --- Steps ------------------------------------------------------------------------------------

function took(label, merge) {
  const last = steps[step], now = performance.now();
  if (merge && last && last.label === label && now - last.at < apart) {
    steps[step] = { state: { ...state }, label, at: now };
  } else {
    steps = [...steps.slice(Math.max(0, step + 2 - most), step + 1), { state: { ...state }, label, at: now }];
    step = steps.length - 1;
  }
  showSteps();
}

function goTo(index) {
  if (!steps[index]) return;
  step = index;
  state = { ...steps[index].state };
  editors.rules.value = state.rules;
  editors.crd.value = state.crd;
  editors[state.origin].value = state.text;
  showSteps();
  evaluateNow();
}

function showSteps() {
  $("undo").disabled = step <= 0;
  $("redo").disabled = step >= steps.length - 1;
  const list = element("ol");
  const first = Math.max(0, steps.length - 9);
  for (let i = first; i < steps.length; i++) {
    const item = element("li"), button = element("button", "", `${i + 1}. ${steps[i].label}`);
    if (i === step) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => goTo(i));
    if (i > first) item.append("›");
    item.append(button);
    list.append(item);
  }
  $("steps").replaceChildren(list);
}

// --- Edits ------------------------------------------------------------------------------------

function edited(name) {
  if (name === "left" || name === "right") {
    state.origin = name;
    state.text = editors[name].value;
    took(`${state[name] || "object"} edited`, true);
  } else {
    state[name] = editors[name].value;
    took(`${name === "crd" ? "CRD" : "rules"} edited`, true);
  }
  started = performance.now();
  clearTimeout(timer);
  timer = setTimeout(evaluateNow, pause);
}

function load(next, label) {
  state = { ...state, ...next };
  for (const name of ["rules", "crd"]) editors[name].value = state[name];
  editors[state.origin].value = state.text;
  took(label);
  evaluateNow();
}

// --- Evaluation -------------------------------------------------------------------------------

let started = performance.now();

/** Evaluates the state. Extra asks for more: laws, suggest or random. It returns the answer, or null. */
async function evaluateNow(extra) {
  clearTimeout(timer);
  running?.abort();
  const control = (running = new AbortController());
  const turn = ++asked;
  if (extra) started = performance.now();
  const begun = started;
  document.body.classList.add("busy");
  const late = setTimeout(() => showState("Evaluating"), 250);
  try {
    const answer = await engine.evaluate({ crd: state.crd, rules: state.rules, object: state.text, ...extra }, control.signal);
    if (turn !== asked) return null;
    out = answer;
    $("alert").hidden = true;
    render();
    if (broken()) showState("Not valid", "error");
    else if (shown()?.text) showState("Converted", "good");
    else showState("Not converted");
    $("status").textContent = summary();
    document.body.dataset.milliseconds = Math.round(performance.now() - begun); // for tests
    started = performance.now();
    return answer;
  } catch (error) {
    if (turn !== asked || error.name === "AbortError") return null;
    $("alert").textContent = error.message;
    $("alert").hidden = false;
    $("status").textContent = "";
    showState("Failed", "error");
    return null;
  } finally {
    clearTimeout(late);
    if (turn === asked) {
      document.body.classList.remove("busy");
      document.body.dataset.evaluated = turn;
    }
  }
}

function showState(word, className = "") {
  $("state").textContent = word;
  $("state").className = className;
}

/** Reports whether webhookd would not serve these rules. */
const broken = () => out.findings.some((f) => f.severity === "error" && f.in !== "object");

function summary() {
  const count = (severity) => out.findings.filter((f) => f.severity === severity).length;
  const parts = [];
  for (const severity of ["error", "warning", "note"]) {
    const n = count(severity);
    if (n) parts.push(`${n} ${severity}${n > 1 ? "s" : ""}`);
  }
  return (parts.join(", ") || "No findings") + (out.kind ? ` for ${out.kind}.` : ".");
}

// --- What is shown ----------------------------------------------------------------------------

function render() {
  const names = out.versions;
  document.body.classList.toggle("broken", broken());
  if (out.version) state[state.origin] = out.version;
  const derived = other(state.origin);
  const possible = out.conversions.map((c) => c.version);
  if (possible.length && !possible.includes(state[derived])) state[derived] = possible[0];
  const c = shown();
  for (const side of ["left", "right"]) tabs(side, names);
  if (c) {
    editors[derived].value = c.text ?? "";
    editors[derived].fail(c.problem && `cannot convert to ${c.version}: ${c.problem}`);
  } else {
    editors[derived].value = "";
    editors[derived].fail(state.text.trim() && out.findings.some((f) => f.severity === "error") ? "not converted: see the findings" : "");
  }
  editors[state.origin].fail("");
  for (const [name, where] of [["rules", "rules"], ["crd", "crd"], ["object", state.origin]]) showFindings(name, editors[where]);
  showFields(c);
  showBack(c);
  showLaws();
  note(c);
  drawSoon();
}

/** Returns the conversion that the other side shows. */
function shown() {
  return out?.conversions.find((c) => c.version === state[other(state.origin)]);
}

function tabs(side, names) {
  const isSource = side === state.origin;
  const source = out.version;
  $(side + "-tabs").replaceChildren(...names.filter((v) => isSource || v !== source).map((version) => {
    const button = element("button", "", version + (version === out.hub ? " (hub)" : ""));
    button.ariaPressed = String(version === state[side]);
    button.addEventListener("click", () => choose(side, version));
    return button;
  }));
}

/** Shows another version: on the side that was edited, the object as it is there. */
function choose(side, version) {
  if (side !== state.origin) {
    state[side] = version;
    render();
  } else if (version !== state[side]) {
    const there = out.conversions.find((c) => c.version === version);
    if (there?.text === undefined) return;
    const was = state[side];
    const next = { [side]: version, text: there.text };
    if (state[other(side)] === version) next[other(side)] = was;
    load(next, `shown at ${version}`);
  }
  $(side + "-tabs").querySelector("[aria-pressed=true]")?.focus();
}

function note(c) {
  const source = state.origin, derived = other(source);
  $(source + "-note").textContent = "";
  $(derived + "-note").textContent = c?.keptBytes ? `${c.keptBytes} bytes kept` : c ? "edit it, too" : "";
}

function showFindings(name, editor) {
  const all = out.findings.filter((f) => f.in === name);
  const list = $(name + "-findings");
  list.replaceChildren(...all.slice(0, 200).map((f) => {
    const item = element("li"), button = element("button", f.severity);
    const at = f.line ? `line ${f.line}` : "";
    button.append(element("span", "where", `${signs[f.severity]} ${f.severity}${at ? ", " + at : ""}: `), f.message, " ", element("span", "code", f.code));
    if (f.hint) button.append(element("span", "hint", f.hint));
    button.addEventListener("click", () => editor.reveal(f.line || 1, true));
    item.append(button);
    return item;
  }));
  if (all.length > 200) list.append(element("li", "", `and ${all.length - 200} more`));
  editor.findings = all.filter((f) => f.line).map((f) => ({ line: f.line, kind: f.severity, sign: signs[f.severity] }));
  editor.mark(editor.findings);
  const count = $(name + "-count");
  if (!count) return;
  const worst = ["error", "warning", "note"].find((s) => all.some((f) => f.severity === s));
  count.className = "count " + (worst ?? "good");
  count.textContent = worst ? `${all.length} finding${all.length > 1 ? "s" : ""}` : "✓ no findings";
}

const describe = (f) => [f.rule, f.reason].filter(Boolean).join(": ");

function showFields(c) {
  const fields = c?.fields ?? [], source = editors[state.origin], derived = editors[other(state.origin)];
  const mark = (f, line, end) => ({ line, end, kind: f.class, sign: f.class === "copied" ? "" : kinds[f.class][0] });
  $("fields-box").hidden = !fields.length;
  source.mark([...fields.filter((f) => f.fromLine).map((f) => mark(f, f.fromLine, f.fromEnd)), ...(source.findings ?? [])]);
  derived.mark(fields.filter((f) => f.toLine).map((f) => mark(f, f.toLine, f.toEnd)));
  $("fields").tBodies[0].replaceChildren(...fields.slice(0, 1000).map((f) => {
    const row = element("tr", f.class);
    const cell = (path, editor, line) => {
      const td = element("td");
      if (path) {
        const button = element("button", "", path);
        button.addEventListener("click", () => { editor.reveal(line, true); emphasize(f, row); });
        td.append(button);
      }
      return td;
    };
    row.append(element("td", "what " + f.class, kinds[f.class].join(" ")), cell(f.from, source, f.fromLine), cell(f.to, derived, f.toLine),
      element("td", "", describe(f)));
    row.addEventListener("mouseenter", () => emphasize(f, row));
    row.addEventListener("focusin", () => emphasize(f, row));
    row.addEventListener("mouseleave", () => emphasize(null));
    f.row = row;
    return row;
  }));
}

let emphasized = null;

function emphasize(f, row) {
  emphasized = f;
  for (const r of $("fields").querySelectorAll("tr.on")) r.classList.remove("on");
  row?.classList.add("on");
  editors[state.origin].emphasize(f?.fromLine ?? 0);
  editors[other(state.origin)].emphasize(f?.toLine ?? 0);
  drawSoon();
}

/** Emphasizes what the caret is at. */
function follow(side) {
  const text = editors[side].text;
  const line = text.value.slice(0, text.selectionStart).split("\n").length;
  const source = side === state.origin;
  const f = shown()?.fields.find((f) => {
    const [from, to] = source ? [f.fromLine, f.fromEnd] : [f.toLine, f.toEnd];
    return from && from <= line && line <= to;
  });
  emphasize(f ?? null, f?.row);
}

function showBack(c) {
  const box = $("back");
  box.replaceChildren();
  box.className = "back";
  if (!c || c.problem) return;
  if (broken()) {
    box.classList.add("differs");
    box.append("✕ webhookd serves no rules with errors. This is what the other rules do.");
    return;
  }
  const way = `Way back ${c.version} → ${out.version}: `;
  const wrong = c.differences.filter((d) => !d.dropped), dropped = c.differences.filter((d) => d.dropped);
  const list = (all) => {
    const ul = element("ul");
    for (const d of all.slice(0, 20)) {
      const li = element("li");
      li.append(element("code", "", d.path), " was ", element("code", "", d.was || "absent"), ", is ", element("code", "", d.is || "absent"));
      ul.append(li);
    }
    if (all.length > 20) ul.append(element("li", "", `and ${all.length - 20} more`));
    return ul;
  };
  if (wrong.length) {
    box.classList.add("differs");
    box.append(way + "the object is not the same.", list(wrong));
  } else if (dropped.length) {
    box.classList.add("drops");
    box.append(way + "the same object, but for what rules drop.", list(dropped));
  } else {
    box.append("✓ " + way + "the same object.");
  }
  if (c.invalid?.length) {
    const ul = element("ul");
    for (const problem of c.invalid) ul.append(element("li", "", problem));
    box.append(element("div", "", `The API server refuses a write of it at ${c.version}:`), ul);
  }
}

function showLaws() {
  const box = $("laws-result"), laws = out.laws;
  if (!laws) {
    box.hidden ||= state.crd !== heldTo.crd || state.rules !== heldTo.rules; // it was about other rules
    return;
  }
  heldTo = { ...state };
  box.hidden = false;
  box.replaceChildren();
  if (laws.violation) box.append(...violation(laws.violation));
  else if (laws.problem) {
    box.append(element("h3", "", "✕ " + laws.problem));
  } else {
    box.append(element("h3", "", `✓ All laws hold on ${laws.objects} random objects`),
      element("div", "", `${laws.fragments} fragments of them, ${laws.edits} edits, ${laws.walks} walks through versions and ${laws.forgeries} forged objects (seed ${laws.seed}).`));
  }
  if (laws.notes) box.append(element("pre", "", laws.notes.trimEnd()));
}

/** Returns what `webhookd fuzz` says about a law that does not hold. */
function violation(v) {
  const says = element("dl");
  const say = (name, ...parts) => {
    if (!parts[0]) return;
    const dd = element("dd");
    dd.append(...parts);
    says.append(element("dt", "", name), dd);
  };
  const code = (text) => text && element("code", "", text);
  say("differs", code(v.path), v.path && ` in ${v.at}`);
  if (v.path) {
    say("should be", code(v.was));
    say("is", code(v.is));
  } else say("problem", v.problem);
  say("steps", v.steps);
  say("walk", v.walk?.join("; "));
  say("cause", v.cause);
  say("remedy", v.remedy && element("strong", "", v.remedy));
  say("again", code(v.again));
  const use = element("button", "", "Use this object");
  use.addEventListener("click", () => load({ text: v.object, origin: "left", left: v.from, right: v.to }, "object of a law"));
  return [element("h3", "", `✕ Law ${v.law} does not hold, ${v.from} → ${v.to}`), says, element("pre", "", v.object), use];
}

// --- Lines between the sides --------------------------------------------------------------------

let drawing = 0;

function drawSoon() {
  drawing ||= requestAnimationFrame(() => { drawing = 0; draw(); });
}

function draw() {
  const svg = $("lines"), box = svg.getBoundingClientRect();
  const fields = (shown()?.fields ?? []).filter((f) => f.fromLine && f.toLine).slice(0, 1000);
  if (!box.width) return;
  const x1 = editors.left.root.getBoundingClientRect().right - box.left + 1;
  const x2 = editors.right.root.getBoundingClientRect().left - box.left - 1;
  const paths = [];
  for (const f of fields) {
    const source = editors[state.origin].middle(f.fromLine, f.fromEnd), target = editors[other(state.origin)].middle(f.toLine, f.toEnd);
    if (!source.shown && !target.shown) continue;
    const [a, b] = state.origin === "left" ? [source.y, target.y] : [target.y, source.y];
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const y1 = a - box.top, y2 = b - box.top, half = (x1 + x2) / 2;
    path.setAttribute("d", `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`);
    path.setAttribute("class", f.class + (f === emphasized ? " on" : ""));
    path.setAttribute("stroke", `var(--${f.class})`);
    if (!source.shown || !target.shown) path.setAttribute("stroke-dasharray", "3 4");
    paths.push(path);
  }
  svg.replaceChildren(...paths);
}

// --- Buttons and keys -------------------------------------------------------------------------

async function suggest() {
  const answer = await evaluateNow({ suggest: true });
  if (answer?.suggested) load({ rules: answer.suggested }, "suggested rules");
}

async function random() {
  const version = state[state.origin] || out?.versions[0];
  if (!version) return;
  const answer = await evaluateNow({ random: { version, seed: Math.floor(Math.random() * 2 ** 32) } });
  if (answer?.random) load({ text: answer.random, [state.origin]: version }, "random object");
}

async function copyLink() {
  const fragment = await encode(state);
  history.replaceState(null, "", "#" + fragment);
  let said = "The address of this page holds everything now";
  try {
    await navigator.clipboard.writeText(location.href);
    said = "The link is in the clipboard and in the address bar";
  } catch { /* not allowed: the address bar has it */ }
  const more = location.hostname.match(/^(127\.|localhost|\[::1\])/) ? "; elsewhere put what follows # behind the address of a playground" : "";
  $("status").textContent = `${said} (${location.href.length} characters)${more}.`;
}

function theme(next) {
  const root = document.documentElement;
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  $("theme").textContent = "Theme: " + next;
  try { localStorage.setItem("theme", next); } catch { /* no storage: it lasts as long as the page */ }
}

let finding = -1;

function nextFinding(by) {
  const all = [...document.querySelectorAll(".findings button")];
  if (!all.length) return;
  finding = (finding + by + all.length) % all.length;
  all[finding].click();
}

const actions = {
  undo: () => goTo(step - 1), redo: () => goTo(step + 1), suggest, random, link: copyLink,
  laws: () => evaluateNow({ laws: lawObjects }).then((a) => a?.laws && $("laws-result").scrollIntoView({ block: "nearest" })),
  theme: () => theme({ auto: "dark", dark: "light", light: "auto" }[document.documentElement.dataset.theme ?? "auto"]),
};
for (const [id, act] of Object.entries(actions)) $(id).addEventListener("click", act);
for (const side of ["left", "right"]) for (const event of ["keyup", "click"]) editors[side].text.addEventListener(event, () => follow(side));
const keys = { KeyU: "undo", KeyR: "redo", KeyS: "suggest", KeyL: "laws", KeyK: "link", KeyO: "random" };
addEventListener("keydown", (e) => {
  if (e.altKey && !e.ctrlKey && !e.metaKey && keys[e.code]) {
    e.preventDefault();
    if (!$(keys[e.code]).disabled) actions[keys[e.code]]();
  } else if ((e.ctrlKey || e.metaKey) && e.key === "Enter") {
    e.preventDefault();
    evaluateNow();
  } else if (e.key === "F8") {
    e.preventDefault();
    nextFinding(e.shiftKey ? -1 : 1);
  }
});
addEventListener("resize", drawSoon);
addEventListener("hashchange", () => openLink());

// --- Beginning --------------------------------------------------------------------------------

function chooseExample(index) {
  const e = examples[index];
  showObjects(e.objects);
  load({ crd: e.crd, rules: e.rules, text: e.objects[0]?.text ?? "", origin: "left", left: "", right: "" }, e.label ?? `example ${e.name}`);
}

function showObjects(objects) {
  $("object").replaceChildren(...objects.map((o, i) => new Option(o.name, i)));
  $("object").parentElement.hidden = objects.length < 2;
}

async function openLink() {
  try {
    const linked = await decode(location.hash.slice(1));
    if (!linked) return false;
    const { crd, rules, text, left, right } = linked;
    $("gallery").prepend(new Option("from the link", examples.length, true, true));
    examples.push({ crd, rules, objects: text ? [{ text }] : [], label: "link" });
    showObjects([]);
    load({ crd, rules, text, left, right, origin: linked.origin === "right" ? "right" : "left" }, "link");
    return true;
  } catch (error) {
    $("alert").textContent = `The link cannot be read: ${error.message}. Was it cut off?`;
    $("alert").hidden = false;
    return false;
  }
}

async function begin() {
  $("where").textContent = engine.where;
  $("where-more").textContent = engine.more;
  let saved = null;
  try { saved = localStorage.getItem("theme"); } catch { /* no storage */ }
  theme(["dark", "light"].includes(saved) ? saved : "auto");
  $("legend").replaceChildren(...Object.entries(kinds).map(([kind, [sign, name]]) => element("span", kind, `${sign} ${name}`)));
  examples = await engine.gallery();
  $("gallery").replaceChildren(...examples.map((e, i) => new Option(`${e.name}: ${e.title}`, i)));
  $("gallery").addEventListener("change", () => chooseExample(Number($("gallery").value)));
  $("object").addEventListener("change", () => {
    const e = examples[Number($("gallery").value)];
    load({ text: e.objects[Number($("object").value)].text, origin: "left", left: "" }, $("object").selectedOptions[0].text);
  });
  const start = await engine.start();
  if (await openLink()) return;
  if (!start) return chooseExample(0);
  $("gallery").prepend(new Option("your files", examples.length, true, true));
  examples.push({ crd: start.crd, rules: start.rules, objects: start.object ? [{ text: start.object }] : [], label: "your files" });
  chooseExample(examples.length - 1);
}

begin().catch((error) => {
  $("alert").textContent = error.message;
  $("alert").hidden = false;
});
