// Package crdschema reads CustomResourceDefinitions: the structural schema of each version as a
// tree of nodes, and pruning, defaulting and validation as kube-apiserver does them. The API
// server's own packages (k8s.io/apiextensions-apiserver) do the work.
//
// Everything that Parse returns is immutable and safe for concurrent use.
package crdschema
