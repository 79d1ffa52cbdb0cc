package yamledit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The work on a file grows with its documents, not with their square.
//
//nolint:paralleltest // it counts what the process allocates
func TestManyDocuments(t *testing.T) {
	allocated := func(documents int) uint64 {
		var text strings.Builder
		values := make([][]byte, documents)
		for i := range documents {
			fmt.Fprintf(&text, "---\napiVersion: a/v1\nmetadata: {name: a%d}\n", i)
			values[i] = fmt.Appendf(nil, `{"apiVersion":"a/v2","metadata":{"name":"a%d"}}`, i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := ParseYAML([]byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Edit(values); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(500), allocated(5000)
	if many > 15*few {
		t.Errorf("500 documents take %d bytes, 5000 take %d", few, many)
	}
}
