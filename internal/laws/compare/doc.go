// Package compare says what conversions do to given objects, without a law: how two converters of a
// kind differ, what becomes of an object that is converted and written back, and which fields a
// manifest leaves out that mean something else at another version. Read compare.go first.
package compare
