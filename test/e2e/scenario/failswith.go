package scenario

import (
	"strings"
	"testing"
)

// failsWith fails the test unless err, which is what a user sees, has all these texts in it.
func failsWith(t *testing.T, what string, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one with %q", what, texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s:\ngot  %v\nwant %s", what, err, text)
		}
	}
	t.Logf("%s: %v", what, err)
}
