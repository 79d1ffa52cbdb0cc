// Package jsondoc keeps a JSON document as text. It validates the text once, indexes only what is
// read, edits by path, and writes all untouched bytes back exactly as they came: number literals,
// the order of names, white space, escapes, nulls and unknown fields.
//
// A duplicate name is an error at the top of an object and in its metadata. Below, the last member
// of a name counts, as for kube-apiserver. The others stay in text that no edit changes.
//
// A [Scanner] validates text and reports the positions of its values. A [Document] holds the text
// of one request and opens one [Object] of it at a time; edits of an object are a tree of [Node]
// values. An [Output] lists the pieces of the answer. No type of this package is safe for
// concurrent use.
package jsondoc
