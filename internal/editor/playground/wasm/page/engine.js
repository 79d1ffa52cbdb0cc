// The engine is webhookd as WebAssembly, in a worker, so that a long evaluation does not stop the
// page and can be ended.

export const where = "Your objects stay in this page.";
export const more = "webhookd runs in your browser: nothing is sent anywhere.";

const limit = 20000; // ms for an evaluation
const lawLimit = 60000;

let worker = null, ready = null;

function begin() {
  worker = new Worker("worker.js");
  ready = new Promise((resolve, reject) => {
    worker.onmessage = (e) => (e.data.error ? reject(new Error(e.data.error)) : resolve());
    worker.onerror = () => reject(new Error("the engine cannot be loaded: engine.wasm"));
  });
  ready.catch(() => {});
}

function restart() {
  worker.terminate();
  begin();
}

let turn = Promise.resolve();

/** Asks the worker one thing at a time. A signal that aborts a waiting request skips it. */
function ask(request, ms, signal) {
  const next = turn.then(async () => {
    signal?.throwIfAborted();
    if (!worker) begin();
    await ready;
    return new Promise((resolve, reject) => {
      const end = (act, value) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
        act(value);
      };
      // What takes long is ended when there is something newer; loading the engine again is cheap.
      const begun = performance.now();
      const stop = () => {
        if (performance.now() - begun < 1000) return;
        restart();
        end(reject, signal.reason);
      };
      const timer = setTimeout(() => {
        restart();
        end(reject, new Error(`stopped after ${ms / 1000} s, which is the limit of this page: make the CRD, the rules or the object smaller, or use webhookd on your machine`));
      }, ms);
      signal?.addEventListener("abort", stop);
      worker.onmessage = (e) => end(resolve, e.data);
      worker.onerror = () => { restart(); end(reject, new Error("the engine has ended: the object or the CRD may be too large for a browser")); };
      worker.postMessage(JSON.stringify(request));
    });
  });
  turn = next.catch(() => {});
  return next.then((text) => {
    const answer = JSON.parse(text);
    if (answer?.error) throw new Error(answer.error);
    return answer;
  });
}

export const gallery = () => ask({ gallery: true }, limit);
export const start = async () => null;
export const evaluate = (input, signal) => ask({ eval: input }, input.laws ? lawLimit : limit, signal);
