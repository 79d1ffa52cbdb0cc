// Package jsondoc keeps a JSON document as text: it is validated once, indexed only where somebody looks, edited by path,
// and written back with every byte that no edit touched exactly as it came: number literals, the order of names, white
// space, escapes, nulls and unknown fields.
//
// A name that stands twice is an error at the top of an object and in its metadata. Below, the last one counts, as for
// kube-apiserver, for all that reads and edits. The others stay in text that no edit changes.
//
// A [Scanner] validates text and says where values stand. A [Document] holds the text of one request and opens an [Object]
// of it at a time, whose edits are a tree of [Node] values beside the text. An [Output] lists the pieces of the answer.
// No type of this package is safe for concurrent use.
package jsondoc
