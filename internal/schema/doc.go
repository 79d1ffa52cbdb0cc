// Package schema has the packages for what CustomResourceDefinitions say: crdschema (schemas as
// conversions ask for them), apiserver (the API server's own validation, pruning and defaults), xrd
// (CRDs of a Crossplane definition) and manifest (the objects in a file).
//
// They know no rule, and import the room document alone. Read crdschema/node.go first.
package schema
