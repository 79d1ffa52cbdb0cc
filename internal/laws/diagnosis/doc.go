// Package diagnosis says why a law of conversion does not hold: which rule or which default of a
// schema makes the difference, and what to write. `webhookd fuzz` prints it, and the page of
// `webhookd playground` shows it. Nothing here converts an object. Read cause.go first.
package diagnosis
