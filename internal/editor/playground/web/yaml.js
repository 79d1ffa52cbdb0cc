import { element } from "./element.js";

// What a line has, in the order in which it is looked for. A sign within a word is a part of it.
const tokens = new RegExp([
  "(?<comment>(?<![^\\s])#.*)",
  "(?<key>(?:\"[^\"]*\"|'[^']*'|[\\w$./-]+)(?=:(?:\\s|$)))",
  "(?<string>\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^']|'')*')",
  "(?<literal>(?<![\\w./-])(?:true|false|null|-?\\d+(?:\\.\\d+)?)(?![\\w./-]))",
  "(?<sign>[{}\\[\\],]|(?<![\\w])-(?=\\s))",
  "[\\w$./-]+",
].join("|"), "g");

/** Returns a line of YAML in colours. */
export function coloured(line) {
  const all = element("div");
  let end = 0;
  for (const m of line.matchAll(tokens)) {
    const kind = Object.keys(m.groups).find((name) => m.groups[name] !== undefined);
    if (!kind) continue;
    all.append(line.slice(end, m.index), element("span", "yaml-" + kind, m[0]));
    end = m.index + m[0].length;
  }
  all.append(line.slice(end));
  return all;
}
