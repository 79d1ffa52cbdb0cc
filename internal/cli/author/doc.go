// Package author has the verbs that help to write rules: suggest, lsp and playground. What they do
// is in internal/converters/rules/suggest and internal/editor.
package author
