// Package transform has what one rule computes: from the values of its places in a version to those of its places in the
// hub, and back. A plain pair hands values on; values, template and codec are tables and formats with two directions;
// toHub and fromHub are CEL; go: is a registered function.
//
// [Compile] checks a rule against the schemas of its places and returns what is wrong with it as findings. The [Transform]
// that it returns runs without a look at the rule again. It never sees more of an object than the values of the rule's
// places, but for CEL, which reads `object` where it stands as text (package celvalue).
package transform
