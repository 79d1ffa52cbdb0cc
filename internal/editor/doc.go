// Package editor has the packages for those who write rules: lsp (a language server) and playground
// (a page that evaluates rules while they are typed, also compiled to WebAssembly).
//
// They show what check, suggest and the engine find out, and decide nothing themselves. Read
// playground/eval.go and lsp/server.go first.
package editor
