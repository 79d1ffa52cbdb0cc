//go:build js && wasm

// Command wasm is the engine of the playground for a browser without a webhookd: a Web Worker loads
// it and calls the function webhookd(request) of the global scope, which returns the answer. Both
// are JSON texts.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/crdconvert/webhookd/internal/editor/playground"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A request asks for the examples, or for an evaluation.
type request struct {
	Gallery bool              `json:"gallery"`
	Eval    *playground.Input `json:"eval"`
}

func main() {
	evaluator := playground.NewEvaluator(ruleset.Compiled{})
	js.Global().Set("webhookd", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return answer(evaluator, args[0].String())
	}))
	select {} // a page may call the function for as long as it is open
}

func answer(evaluator *playground.Evaluator, text string) string {
	var in request
	var out any
	err := json.Unmarshal([]byte(text), &in)
	switch {
	case err != nil:
	case in.Gallery:
		out, err = playground.Gallery()
	case in.Eval != nil:
		out = evaluator.Eval(context.Background(), *in.Eval)
	}
	if err != nil {
		out = map[string]string{"error": err.Error()}
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		return `{"error":"the answer cannot be written as JSON"}`
	}
	return string(encoded)
}
