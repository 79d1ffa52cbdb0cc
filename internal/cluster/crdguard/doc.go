// Package crdguard renders admission policies for the kinds of CustomResourceDefinitions: the guard
// of the values that webhookd keeps in annotations, the gate that refuses objects that cannot be
// converted, and the guard of spec.conversion. The API server enforces them; webhookd takes no
// part.
//
// The Helm chart renders the same from a template of its own; the tests compare both. This package
// does without text/template: with it in the program, the linker would keep every exported method
// of every type, 7 MB of them.
package crdguard
