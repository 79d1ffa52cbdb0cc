// Package check has the verbs that say what rules do: check, also with the objects of a cluster,
// and explain.
package check
