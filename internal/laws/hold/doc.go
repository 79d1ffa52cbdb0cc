// Package hold has the laws of conversion, each in a row of the table in table.go, and holds
// converters to them: on given objects and, with Suite.Fuzz, on random objects, fragments, edits
// and walks, in which the API server stores an object at one version and later at another, while
// clients write it at all of them.
//
// It calls converters as clients do and shares no code with the engine of kept values: hidden.go
// says by the schemas alone whether an edit shows. Read table.go first, then judges.go.
package hold
