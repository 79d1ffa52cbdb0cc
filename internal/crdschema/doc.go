// Package crdschema reads CustomResourceDefinitions and answers what their versions say about objects: the structural
// schema as a tree of nodes, and pruning, defaulting and validation as kube-apiserver does them. The API server's own
// packages (k8s.io/apiextensions-apiserver) do the work; what is here is the way in.
//
// Everything is immutable and safe for concurrent use once Parse has returned it.
package crdschema
