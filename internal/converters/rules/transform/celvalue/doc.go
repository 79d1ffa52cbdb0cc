// Package celvalue lets CEL read JSON where it stands as text, and writes what CEL computed as JSON.
//
// An object or array is a stretch of text until an expression asks for something in it; then its members are listed, one
// level deep, and the others stay text. So an expression over one field decodes that field. Integers are int64, exactly;
// what an expression hands on unread keeps its text to the byte.
//
// Values are for one goroutine: looking into one changes it.
package celvalue
