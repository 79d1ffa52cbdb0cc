package faults_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// grown returns objects of a size, each with the elements of one of its arrays or maps repeated.
func grown(object map[string]any, size int) [][]byte {
	var all [][]byte
	var visit func(value any, set func(any))
	repeat := func(text []byte, set func(any), into func(many []any) any) {
		var many []any
		for i, left := 0, size; left > 0; i++ {
			var one any
			numbered := strings.ReplaceAll(string(text), `":"`, `":"`+strconv.Itoa(i))
			_ = json.Unmarshal([]byte(numbered), &one) // as it was marshalled
			many, left = append(many, one), left-len(numbered)-len(`"k00000":,`)
		}
		set(into(many))
		body, _ := json.Marshal(object) // as it was unmarshalled
		all = append(all, body)
	}
	visit = func(value any, set func(any)) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				visit(value[name], func(v any) { value[name] = v })
			}
			for _, first := range value {
				text, _ := json.Marshal(first)
				repeat(text, set, func(many []any) any {
					m := map[string]any{}
					for i, one := range many {
						m["k"+strconv.Itoa(i)] = one
					}
					return m
				})
				set(value)
				break
			}
		case []any:
			if len(value) > 0 {
				visit(value[0], func(v any) { value[0] = v })
				text, _ := json.Marshal(value[0])
				repeat(text, set, func(many []any) any { return many })
				set(value)
			}
		}
	}
	if spec, ok := object["spec"]; ok {
		visit(spec, func(v any) { object["spec"] = v })
	}
	return all
}

// otherVersion returns another version of a CRD.
func otherVersion(t *testing.T, crd []byte, apiVersion string) string {
	t.Helper()
	var c struct {
		Spec struct {
			Group    string
			Versions []struct{ Name string }
		}
	}
	if err := yaml.Unmarshal(crd, &c); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.Spec.Versions {
		if other := c.Spec.Group + "/" + v.Name; other != apiVersion {
			return other
		}
	}
	return ""
}

// launchExample starts a process with the rules of an example and the memory of a container, and
// returns an object of it.
func launchExample(t *testing.T, ca *tlstest.CA, dir string, container int64) (p *process.Process, object map[string]any, to string) {
	t.Helper()
	crd, err := os.ReadFile(filepath.Join(dir, "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(filepath.Join(dir, "cases", "*.yaml"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	text, err := os.ReadFile(cases[len(cases)-1])
	if err == nil {
		err = yaml.Unmarshal(text, &object)
	}
	if err != nil {
		t.Fatal(err)
	}
	from, _ := object["apiVersion"].(string)
	p = run(t, process.Options{
		CA: ca, Memory: scaled(0, container), Tolerated: []string{reviewFailed, `"msg":"body rejected"`, "fields that the copy of their CRD lacks"},
		Flags: []string{memoryLimit(container), "--rules", filepath.Join(dir, "rules.yaml"), "--crds", filepath.Join(dir, "crd.yaml")},
	})
	return p, object, otherVersion(t, crd, from)
}

// TestR15ShapesThatGrow converts what takes many times its size while it is converted, many at
// once, with the rules of every example: the process stays within its memory, and each has an
// answer.
func TestR15ShapesThatGrow(t *testing.T) {
	// Not in parallel: it takes much memory, and most of the machine.
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	examples, err := filepath.Glob(root + "/examples/*/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range examples {
		dir := filepath.Dir(crd)
		if _, err := os.Stat(filepath.Join(dir, "cases")); errors.Is(err, os.ErrNotExist) || !*full && filepath.Base(dir) != "map-list" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			p, object, to := launchExample(t, ca, dir, smallContainer)
			client := posterFrom(t, crowdAddress, p.Addr, config)
			for _, size := range []int{289_000, 1_400_000} {
				for i, body := range grown(object, size) {
					codes, took := together(t, client, scaled(8, 16), reviewtest.Review("apiextensions.k8s.io/v1", to, body))
					t.Logf("shape %d of %d bytes: %s after %s", i, len(body), codeCounts(codes), took)
					delete(codes, http.StatusOK)
					delete(codes, http.StatusTooManyRequests)
					if len(codes) > 0 || *full && took > 30*time.Second {
						t.Errorf("shape %d of %d bytes: %s after %s", i, len(body), codeCounts(codes), took)
					}
					if !p.Alive() {
						t.Fatalf("shape %d of %d bytes: the process was killed", i, len(body))
					}
				}
			}
			t.Logf("peak %d MiB, shed %v", wantWithinContainer(t, p), p.Scrape().Sum("webhookd_shed_total", "reason", "memory"))
		})
	}
}

// TestR15TinyContainer converts objects that grow to more than a container of 64 MiB has: they are
// given up, and counted, while small reviews go on.
func TestR15TinyContainer(t *testing.T) {
	// Not in parallel: it takes most of the machine.
	const container = 64 << 20
	ca := tlstest.NewCA(t, "faults")
	config := &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost, NextProtos: []string{"http/1.1"}}
	p, object, to := launchExample(t, ca, root+"/examples/map-list", container)
	review := func(object []byte) []byte { return reviewtest.Review("apiextensions.k8s.io/v1", to, object) }
	plain, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	kept := posterFrom(t, ownAddress, p.Addr, config)
	l := load.Start(t, load.Options{Workers: 1, Rate: 50, Call: func(int, int) error { return kept.success(t.Context(), review(plain)) }})
	l.More(20)
	body, codes := review(grown(object, 600_000)[0]), map[int]int{}
	given, began := 0.0, time.Now()
	for round := 0; round == 0 || round < 5 && given == 0 && !*full; round++ {
		more, _ := together(t, posterFrom(t, crowdAddress, p.Addr, config), scaled(8, 16), body)
		for code, n := range more {
			codes[code] += n
		}
		given = p.Scrape().Sum("webhookd_shed_total", "reason", "memory")
	}
	l.NoFailures()
	t.Logf("%s after %s, given up %.0f, peak %d MiB", codeCounts(codes), time.Since(began), given, p.PeakMemory()>>20)
	delete(codes, http.StatusOK)
	delete(codes, http.StatusTooManyRequests)
	delete(codes, http.StatusRequestEntityTooLarge)
	if len(codes) > 0 || !p.Alive() { // a third of what the process takes are pages of its file, which the kernel can take back
		t.Errorf("alive: %t; %s", p.Alive(), codeCounts(codes))
	}
	if given == 0 && !*full { // in a container, few enough get so far
		t.Error("the heap was full, but no review is given up")
	}
}

// together posts a body many times at once, and returns the codes and how long the last one took.
func together(t *testing.T, client *poster, count int, body []byte) (codes map[int]int, took time.Duration) {
	t.Helper()
	codes = map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	for range count {
		wg.Go(func() {
			code, err := client.code(t.Context(), body)
			if err != nil {
				t.Logf("no answer: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	wg.Wait()
	return codes, time.Since(began)
}
