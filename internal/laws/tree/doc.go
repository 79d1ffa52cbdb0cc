// Package tree has decoded JSON objects: reading and writing them, their parts, how two of them
// differ, and the annotations in which they keep values. Nothing here knows a schema or converts.
// Read value.go first.
package tree
