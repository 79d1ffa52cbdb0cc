// Package hostile has requests that no client should send to webhookd, and the one answer that
// each of them gets.
//
// The cases are data: what goes over the wire, and what must come back, be counted and be logged.
// The tests of this package play them against the binary; a benchmark plays them against the
// handlers of other servers. README.md says what each set pins and how to add a case.
package hostile
