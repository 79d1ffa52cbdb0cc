// Package hints tells what rules are worth trying on: the values that they speak of and others that nearly are, and the
// places that they lose on purpose. It is for what makes random objects to hold rules to the laws.
//
// Its functions change nothing that they are given, give the same for the same, and are safe for concurrent use.
package hints
