// A plain textarea with line numbers, and marks behind its lines.

const row = 20, top = 8;

export function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

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
    this.body.append(this.marks, this.text);
    this.root.append(this.gutter, this.body);
    host.append(this.root);
    this.lines = 0;
    this.list = [];
    this.text.addEventListener("input", () => { this.number(); onInput?.(); });
    this.text.addEventListener("scroll", () => { this.scroll(); onScroll?.(); });
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
    let lines = 1;
    for (let at = this.text.value.indexOf("\n"); at >= 0; at = this.text.value.indexOf("\n", at + 1)) lines++;
    if (lines === this.lines) return;
    this.lines = lines;
    let all = "";
    for (let i = 1; i <= lines; i++) all += i + "\n";
    this.numbers.textContent = all;
  }

  scroll() {
    const y = -this.text.scrollTop;
    this.numbers.style.transform = this.badges.style.transform = this.marks.style.transform = `translateY(${y}px)`;
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
