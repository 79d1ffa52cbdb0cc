// Package conformance holds a conversion webhook that anyone wrote, in any language, to what
// kube-apiserver requires of its answers and to the laws of conversion that do not depend on how a
// webhook keeps values. It posts reviews as kube-apiserver does, one check after the other, so a
// check that fails hides no other one.
//
// Answers are read leniently wherever another check reads them strictly: an answer with a wrong uid
// fails the check of the uid, and its objects are held to the laws all the same. Read checks.go
// first.
package conformance
