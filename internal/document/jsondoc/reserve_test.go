package jsondoc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

// A document of one small object asks for no memory. One with many members asks in time for what
// their lists take.
func TestReserve(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	tests := map[string]struct {
		objects string // elements of an array
		allowed int64
		least   int64 // bytes asked for
		most    int64
		want    error
	}{
		"ordinary objects":      {string(reviewtest.Object(1, 4000)) + strings.Repeat(","+string(reviewtest.Object(2, 3000)), 500), 1 << 30, 28 * 2000, 28 * 20_000, nil},
		"one small object":      {`{"a":1,"b":2}`, 0, 0, 0, nil},
		"100000 members":        {"{" + members(100_000) + "}", 1 << 30, (28 + 64) * 90_000, (28 + 64) * 300_000, nil},
		"in metadata":           {`{"metadata":{` + members(100_000) + "}}", 1 << 30, (28 + 64) * 90_000, (28 + 64) * 300_000, nil},
		"in 20000 objects":      {"{" + members(5) + "}" + strings.Repeat(",{"+members(5)+"}", 20_000), 1 << 30, 28 * 90_000, 28 * 300_000, nil},
		"more than is there":    {"{" + members(100_000) + "}", 1 << 20, 28 * 10_000, 1 << 20, denied},
		"of objects, all small": {"{" + members(5) + "}" + strings.Repeat(",{"+members(5)+"}", 20_000), 1 << 20, 28 * 10_000, 1 << 20, denied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked int64
			d := &jsondoc.Document{Reserve: func(bytes int64) error {
				if asked+bytes > tt.allowed {
					return denied
				}
				asked += bytes
				return nil
			}}
			_, err := outline(d, []byte("["+tt.objects+"]"))
			if !errors.Is(err, tt.want) || asked < tt.least || asked > tt.most {
				t.Errorf("error %v, want %v; asked for %d bytes, want %d to %d", err, tt.want, asked, tt.least, tt.most)
			}
		})
	}
}

// members returns n members with different names.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()[1:]
}

// The names of an object without an outline take memory as well, since they are compared.
func TestReserveForNames(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	var asked int64
	d := &jsondoc.Document{Reserve: func(bytes int64) error {
		if asked+bytes > 1<<20 {
			return denied
		}
		asked += bytes
		return nil
	}}
	for n, want := range map[int]error{4000: nil, 100_000: denied} {
		asked = 0
		d.Reset([]byte("{" + members(n) + "}"))
		s, err := d.Scanner(jsondoc.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Members(func([]byte) error { _, err := s.Skip(); return err })
		if !errors.Is(err, want) || want != nil && asked < 1<<18 || want == nil && asked > 0 {
			t.Errorf("%d members: error %v, want %v; asked for %d bytes", n, err, want, asked)
		}
	}
}

// Reading an open object may ask for memory too, and returns the error.
func TestReserveInsideAnObject(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	d := &jsondoc.Document{Reserve: func(int64) error { return denied }}
	outlines, err := outline(d, []byte(`[{"spec":[`+strings.Repeat("0,", 50_000)+`0]}]`))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := d.Open(outlines[0]).Get("spec")
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Each(func(string, *jsondoc.Node) bool { return true }); !errors.Is(err, denied) {
		t.Errorf("error %v, want %v", err, denied)
	}
}
