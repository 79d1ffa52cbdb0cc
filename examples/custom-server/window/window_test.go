package window_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"testing"

	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/conversion/rules"
	"github.com/crdconvert/webhookd/examples/custom-server/window"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, days, start string
	}{
		{"a range", `"Mon-Fri 02:00"`, `["Mon","Tue","Wed","Thu","Fri"]`, `"02:00"`},
		{"a list", `"Sat,Sun 23:30"`, `["Sat","Sun"]`, `"23:30"`},
		{"one day", `"Wed 00:00"`, `["Wed"]`, `"00:00"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := window.Function()
			parts, err := f.ToHub(t.Context(), []json.RawMessage{[]byte(test.text)})
			if err != nil {
				t.Fatal(err)
			}
			if days, start := string(parts[0]), string(parts[1]); days != test.days || start != test.start {
				t.Errorf("to the hub: %s, %s", days, start)
			}
			whole, err := f.ToSpoke(t.Context(), parts)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(whole[0]); got != test.text {
				t.Errorf("from the hub: %s, want %s", got, test.text)
			}
		})
	}
}

func TestTextsThatAreNotWindows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"daily"`, `"Fri-Mon 02:00"`, `"Mon-Fri"`, `"Mon,Day 02:00"`, `""`, `null`, `7`} {
		if _, err := window.Function().ToHub(t.Context(), []json.RawMessage{[]byte(text)}); err == nil {
			t.Errorf("%s was converted", text)
		}
	}
	if _, err := window.Function().ToSpoke(t.Context(), []json.RawMessage{[]byte(`["Mon"]`), nil}); err == nil {
		t.Error("days without a start were converted")
	}
	if out, err := window.Function().ToHub(t.Context(), make([]json.RawMessage, 1)); err != nil || out[0] != nil || out[1] != nil {
		t.Error("of nothing came something")
	}
}

// The rules keep values that the function does not restore.
func TestLawsWithRules(t *testing.T) {
	t.Parallel()
	folder := os.DirFS("../../maintenance-window")
	crd, err := fs.ReadFile(folder, "crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := rules.Load(t.Context(), folder, map[string]rules.Function{"example.com/window": window.Function()})
	if err != nil {
		t.Fatal(err)
	}
	samples := make([][]byte, 0, 8)
	for _, spec := range []string{
		`{"window":"Mon-Fri 02:00"}`, `{"window":"Mon,Tue,Wed 02:00"}`, `{"window":"daily"}`, `{"window":""}`, `{}`,
	} {
		samples = append(samples, []byte(`{"apiVersion":"example.com/v1beta1","kind":"Backup","metadata":{"name":"a"},"spec":`+spec+`}`))
	}
	for _, spec := range []string{`{"window":{"days":["Sun"],"start":"02:00"}}`, `{"window":{"days":["Sun"]}}`, `{"window":{}}`} {
		samples = append(samples, []byte(`{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"a"},"spec":`+spec+`}`))
	}
	conversiontest.Laws(t, kinds[0], crd, &conversiontest.Options{Samples: samples})
}
