package yamledit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// The work on a file grows with its documents, not with their square.
//
//nolint:paralleltest // it counts what the process takes
func TestManyDocuments(t *testing.T) {
	costtest.Linear(t, 500, func(documents int) func() {
		var text strings.Builder
		values := make([][]byte, documents)
		for i := range documents {
			fmt.Fprintf(&text, "---\napiVersion: a/v1\nmetadata: {name: a%d}\n", i)
			values[i] = fmt.Appendf(nil, `{"apiVersion":"a/v2","metadata":{"name":"a%d"}}`, i)
		}
		return func() {
			file, err := ParseYAML([]byte(text.String()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Edit(values); err != nil {
				t.Fatal(err)
			}
		}
	})
}
