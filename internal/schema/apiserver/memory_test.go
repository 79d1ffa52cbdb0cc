package apiserver_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// A field takes little memory for as long as the CRD lives, however long its description is.
func TestMemoryOfAField(t *testing.T) { //nolint:paralleltest // it reads the heap
	const fields, most = 10_000, 1200 // bytes
	var spec strings.Builder
	for i := range fields {
		spec.WriteString("field" + strconv.Itoa(i) + ": {type: string, description: " + strings.Repeat("word ", 100) + "}\n")
	}
	text := []byte(crdschematest.CRD(spec.String()))
	live := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := live()
	crds, err := apiserver.Parse("crd.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if each := (live() - before) / fields; each > most {
		t.Errorf("%d bytes a field, want at most %d", each, most)
	}
	runtime.KeepAlive(crds)
	runtime.KeepAlive(text)
}
