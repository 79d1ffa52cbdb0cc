// Runs engine.wasm, and answers each message with a message.
importScripts("wasm_exec.js");

const go = new Go();

async function load() {
  const response = await fetch("engine.wasm");
  if (!response.ok) throw new Error(`engine.wasm: ${response.status}`);
  // instantiateStreaming needs the type application/wasm, which some servers do not send.
  const loaded = response.headers.get("Content-Type")?.startsWith("application/wasm")
    ? WebAssembly.instantiateStreaming(response, go.importObject)
    : WebAssembly.instantiate(await response.arrayBuffer(), go.importObject);
  const { instance } = await loaded;
  go.run(instance).catch(() => {});
  while (!self.webhookd) await new Promise((resolve) => setTimeout(resolve, 5));
}

load().then(() => {
  self.onmessage = (e) => postMessage(self.webhookd(e.data));
  postMessage({});
}, (error) => postMessage({ error: error.message }));
