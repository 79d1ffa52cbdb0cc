// A textarea with line numbers, marks behind its lines, and its visible lines in colours before it.

import { element } from "./element.js";
import { coloured } from "./yaml.js";

const row = 20, top = 8;
const longest = 2000; // characters of a line that are coloured

export class Editor {
  constructor(host, label, empty, onInput, onScroll) {
    this.root = element("div", "editor");
    this.gutter = element("div", "gutter");
    this.gutter.ariaHidden = "true";
    this.numbers = element("div", "numbers");
    this.badges = element("div", "badges");
    this.gutter.append(this.numbers, this.badges);
    this.body = element("div", "body");
    this.marks = element("div", "marks");
    this.marks.ariaHidden = "true";
    this.text = element("textarea");
    Object.assign(this.text, { spellcheck: false, autocomplete: "off", ariaLabel: label, placeholder: empty, id: host.id + "-text" });
    this.text.setAttribute("autocapitalize", "off");
    this.text.setAttribute("wrap", "off");
    this.colours = element("div", "colours");
    this.colours.ariaHidden = "true";
    this.body.append(this.marks, this.text, this.colours);
    this.root.append(this.gutter, this.body);
    host.append(this.root);
    this.lines = [];
    this.list = [];
    this.text.addEventListener("input", () => { this.number(); onInput?.(); });
    this.text.addEventListener("scroll", () => { this.scroll(); onScroll?.(); });
    new ResizeObserver(() => this.colour()).observe(this.text);
    this.number();
  }

  get value() { return this.text.value; }

  /** Sets the text, and keeps where it is scrolled to. */
  set value(text) {
    if (this.text.value === text) return;
    const { scrollTop, scrollLeft } = this.text;
    this.text.value = text;
    this.text.scrollTop = scrollTop;
    this.text.scrollLeft = scrollLeft;
    this.number();
    this.scroll();
  }

  number() {
    const before = this.lines.length;
    this.lines = this.text.value.split("\n");
    if (this.lines.length !== before) this.numbers.textContent = this.lines.map((_, i) => i + 1 + "\n").join("");
    this.colour();
  }

  scroll() {
    const y = -this.text.scrollTop;
    this.numbers.style.transform = this.badges.style.transform = this.marks.style.transform = `translateY(${y}px)`;
    this.colour();
  }

  /** Colours the lines that are visible: a CRD may have 30,000. */
  colour() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.text;
    const first = Math.max(0, Math.floor((scrollTop - top) / row));
    const lines = this.lines.slice(first, first + Math.ceil(clientHeight / row) + 2);
    this.colours.style.clipPath = `inset(0 calc(100% - ${clientWidth}px) calc(100% - ${clientHeight}px) 0)`;
    this.colours.replaceChildren(...lines.map((line) => coloured(line.slice(0, longest))));
    for (const e of this.colours.children) e.style.transform = `translate(${-scrollLeft}px, ${first * row - scrollTop}px)`;
  }

  /** Marks lines: [{line, end, kind, sign}]. */
  mark(list) {
    this.list = list;
    this.marks.replaceChildren(...list.slice(0, 2000).map((m) => {
      const e = element("div", "mark " + m.kind);
      e.style.top = (m.line - 1) * row + "px";
      e.style.height = ((m.end || m.line) - m.line + 1) * row + "px";
      m.element = e;
      return e;
    }));
    this.badges.replaceChildren(...[...new Map(list.filter((m) => m.sign).reverse().map((m) => [m.line, m])).values()].slice(0, 2000).map((m) => {
      const e = element("span", "badge " + m.kind, m.sign);
      e.style.top = top + (m.line - 1) * row + "px";
      e.style.color = "var(--c)";
      return e;
    }));
  }

  /** Emphasizes the marks of a line. */
  emphasize(line) {
    for (const m of this.list) m.element?.classList.toggle("on", line > 0 && m.line <= line && line <= (m.end || m.line));
  }

  /** Returns the vertical middle of a line in the viewport, and whether it is visible. */
  middle(line, end) {
    const box = this.body.getBoundingClientRect();
    const y = box.top + top + ((line - 1 + (end || line)) / 2) * row - this.text.scrollTop;
    return { y: Math.min(Math.max(y, box.top + 2), box.bottom - 2), shown: y > box.top && y < box.bottom };
  }

  reveal(line, focus) {
    if (line < 1) return;
    const y = (line - 1) * row;
    if (y < this.text.scrollTop || y > this.text.scrollTop + this.text.clientHeight - 2 * row) {
      this.text.scrollTop = Math.max(0, y - this.text.clientHeight / 3);
    }
    if (!focus) return;
    let at = 0;
    for (let i = 1; i < line; i++) at = this.text.value.indexOf("\n", at) + 1;
    const stop = this.text.value.indexOf("\n", at);
    this.text.focus();
    this.text.setSelectionRange(at, stop < 0 ? this.text.value.length : stop);
  }

  /** Shows why there is no text, or nothing. */
  fail(problem) {
    this.root.classList.toggle("failed", !!problem);
    this.body.querySelector(".problem")?.remove();
    if (problem) this.body.append(element("div", "problem", problem));
  }
}
