// A link holds everything in its fragment: JSON, compressed, in URL-safe Base64.

async function piped(bytes, through) {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function encode(state) {
  const packed = await piped(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let text = "";
  for (let i = 0; i < packed.length; i += 32768) text += String.fromCharCode(...packed.subarray(i, i + 32768));
  return "s=" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const largest = 12 << 20;

/** Returns the state of a fragment, null if it has none. */
export async function decode(fragment) {
  if (!fragment.startsWith("s=")) return null;
  const text = atob(fragment.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const chunks = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if ((size += next.value.length) > largest) throw new Error("it is too large");
    chunks.push(next.value);
  }
  const state = JSON.parse(await new Blob(chunks).text());
  const ok = (name) => typeof state[name] === "string";
  if (!["crd", "rules", "text", "left", "right", "origin"].every(ok)) throw new Error("something is missing in it");
  return state;
}
