package playground

import (
	"testing"
)

func TestPage(t *testing.T) {
	program := build(t)
	browser := newBrowser(t)
	served := serve(t, program)
	shoot(t, browser, served)
}
