// Package lsp is a language server for files of rules (Language Server Protocol 3.17): findings of
// the checker, completion of paths and of the words of the format, and what becomes of the field at
// the cursor.
package lsp
