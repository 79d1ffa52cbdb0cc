// Package playground tests the page of `webhookd playground` in a real browser, headless Chromium:
// as webhookd serves it, and as the static files of `make playground`.
package playground
