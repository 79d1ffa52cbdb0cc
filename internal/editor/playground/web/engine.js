// The engine is the webhookd that serves this page.

export const where = "Your objects stay on this machine.";
export const more = "webhookd evaluates them in the process that serves this page; it stores nothing and calls nothing else.";

async function call(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("webhookd does not answer: is `webhookd playground` still running?");
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

export const gallery = () => call("api/gallery");
export const start = () => call("api/start");

/** Evaluates an input. A newer one aborts it with signal. */
export function evaluate(input, signal) {
  return call("api/eval", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(input), signal });
}
