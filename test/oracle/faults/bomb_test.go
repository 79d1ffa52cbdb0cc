package faults_test

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/process"
)

// bombs are expressions that take very long, or make very much of little, if they are let. Each is
// the toHub of a string.
func bombs() []string {
	return []string{
		`self.matches("^(a+)+$") ? self : "n"`,
		`self.matches("^(a|aa|aaa)*b$") ? self : "n"`,
		`self.matches("(.*)(.*)(.*)(.*)[0-9]$") ? self : "n"`,
		`self.findAll("a*?").size() > 0 ? self : "n"`,
		`[self, self + "1", self + "2", self + "3"].map(a, [a, a + "1", a + "2", a + "3"].join(a)).join(self)`,
		`[self].map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a)[0]`,
		`self.split("").map(c, c + self).join("")`,
		`self.split("").filter(c, self.contains(c + c)).join("")`,
		`self.split("").map(a, self.split("").map(b, self.split("").size()).sum()).sum() > 0 ? self : "n"`,
		`self.split("").sort().reverse().join(self)`,
		`self.split("").distinct().size() > 0 ? self : "n"`,
		`self.replace("", self)`,
		`self.split("").map(a, "%s%s%s".format([self, a, self])).join(self)`,
		`self.indexOf(self + "b") < 0 ? self : "n"`,
		`quantity(self).isGreaterThan(quantity("1")) ? self : "n"`,
	}
}

// TestP4Bombs runs each such expression, in rules of its own, on three texts (45 cases): each
// review is answered soon, and the memory stays what it is. What the checker refuses is not served,
// which is an answer as well.
func TestP4Bombs(t *testing.T) {
	t.Parallel()
	rules, crds := t.TempDir(), t.TempDir()
	for i, expression := range bombs() {
		plural, kind := fmt.Sprintf("bombs%d", i), fmt.Sprintf("Bomb%d", i)
		write(t, filepath.Join(rules, plural+".yaml"), conversionText(plural,
			"    - spoke: .spec.text\n      hub: .spec.out\n      toHub: '"+expression+"'\n      toSpoke: self\n"))
		write(t, filepath.Join(crds, plural+".yaml"), crdText(plural, kind,
			"              text: {type: string, maxLength: 64}\n", "              out: {type: string, maxLength: 64}\n"))
	}
	ca := tlstest.NewCA(t, "faults")
	p := process.Launch(t, process.Options{
		Binary: binary(t, "webhookd"), CA: ca, Flags: []string{"--rules=" + rules, "--crds=" + crds, "--wait-for-rules"},
		Tolerated: []string{reviewFailed, "rules have errors", "expression reached its cost limit"},
		Ulimit:    "-v 8000000", // KiB: a bomb that goes off must not take the machine along
	})
	client := newPoster(t, p, ca)
	if err := client.success(t.Context(), reviewtest.Body(1, 400)); err != nil {
		t.Fatal(err)
	}
	codes := map[string]int{}
	var slowest time.Duration
	var largest int64
	for i, expression := range bombs() {
		for _, size := range []int{1 << 10, 32 << 10, 1 << 20} { // none fits the schema, which is not checked yet
			object := fmt.Sprintf(`{"apiVersion":"ruled.example.com/v1beta1","kind":"Bomb%d","metadata":{"name":"b"},"spec":{"text":%q}}`,
				i, strings.Repeat("a", size))
			cpu, resident := p.CPU(), p.ResetPeakMemory()
			code, answer, err := client.post(t.Context(), reviewtest.Review("apiextensions.k8s.io/v1", "ruled.example.com/v1", []byte(object)))
			took, grown := p.CPU()-cpu, p.PeakMemory()-resident
			slowest, largest = max(slowest, took), max(largest, grown)
			if err != nil || code != http.StatusOK {
				t.Errorf("%s on %d bytes: answer %d: %v", expression, size, code, err)
			}
			if took > scaled(5*time.Second, 150*time.Millisecond) || grown > scaled[int64](256<<20, 64<<20) {
				t.Errorf("%s on %d bytes took %s of a processor and %d MiB", expression, size, took, grown>>20)
			}
			codes[outcome(answer)]++
		}
	}
	t.Logf("%v, at most %s of a processor and %d MiB", codes, slowest, largest>>20)
}

// outcome says in short what became of a review.
func outcome(answer []byte) string {
	switch {
	case bytes.Contains(answer, []byte(`"Failed"`)):
		return "failed"
	case bytes.Contains(answer, []byte("conversion.webhookd.io/")):
		return "kept as it was"
	default:
		return "converted"
	}
}
