// Package document has the packages for the text of objects and files: jsondoc (an object's JSON,
// edited in place), yamljson and yamledit (the same for YAML) and didyoumean (the nearest of some
// names).
//
// They know no schema, no version and no rule, and import no other room. Read jsondoc/document.go
// first.
package document
