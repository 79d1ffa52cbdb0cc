package faults_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/load"
)

// A shape makes a body of about size bytes.
type shape struct {
	name string
	make func(size int) []byte
}

// legal is the shape of what the API server sends.
const legal = "list"

const bare = `{"apiVersion":"example.com/v1beta1","kind":"CronTab"`

// filled repeats text, in which %d is a number that counts, until there are size bytes.
func filled(size int, text string) string {
	var b strings.Builder
	b.Grow(size + 2*len(text))
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, text, i)
		b.WriteByte(',')
	}
	return strings.TrimSuffix(b.String(), ",")
}

func oneObject(text string) []byte {
	return reviewtest.Review("apiextensions.k8s.io/v1", "example.com/v1", []byte(text))
}

// shapes are a legal list, and what an attacker would send to have a parser take many times the
// size of its input.
func shapes() []shape {
	return []shape{
		{legal, func(size int) []byte { return reviewtest.Body(size/10_000, 10_000) }},
		{"tiny objects", func(size int) []byte { return reviewtest.Body(min(size/400, 100_000), 400) }},
		{"bare objects", func(size int) []byte {
			return oneObject(strings.TrimSuffix(strings.Repeat(bare+"},", min(size/len(bare), 100_000)), ","))
		}},
		{"keys", func(size int) []byte { return oneObject(bare + `,"spec":{` + filled(size, `"k%d":0`) + `}}`) }},
		{"keys at the top", func(size int) []byte {
			return oneObject(bare + `,"hostPort":"a:1",` + filled(size, `"k%d":0`) + `}`)
		}},
		{"labels", func(size int) []byte {
			return oneObject(bare + `,"metadata":{"labels":{` + filled(size, `"k%d":""`) + `}}}`)
		}},
		{"metadata", func(size int) []byte { return oneObject(bare + `,"metadata":{` + filled(size, `"k%d":0`) + `}}`) }},
		{"empty arrays", func(size int) []byte {
			return oneObject(bare + `,"spec":[` + strings.Repeat("[],", size/3) + `[]]}`)
		}},
		{"a string", func(size int) []byte {
			return oneObject(bare + `,"hostPort":"` + strings.Repeat(`\u003c`, size/6) + `:1"}`)
		}},
		{"nulls", func(size int) []byte {
			return oneObject(strings.TrimSuffix(strings.Repeat("null,", min(size/5, 1_000_000)), ","))
		}},
		{"members of the envelope", func(size int) []byte {
			return slices.Concat([]byte(`{`+filled(size, `"k%d":0`)+`,`), reviewtest.Body(1, 400)[1:])
		}},
	}
}

// memoryLimit is the limit that webhookd sets itself in a container of that size.
func memoryLimit(container int64) string {
	return fmt.Sprintf("--memory-limit=%d", container-min(max(container/10, 38<<20), container/4))
}

func codeCounts(codes map[int]int) string {
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&b, "%d x %d ", codes[code], code)
	}
	return strings.TrimSpace(b.String())
}

// TestR2LegalListOf100MB converts a list of the size that the API server may make (KEP-95), one
// after the other.
func TestR2LegalListOf100MB(t *testing.T) {
	objects, rounds := scaled(1000, 10_000), scaled(3, 20)
	ca := tlstest.NewCA(t, "faults")
	p := run(t, process.Options{
		CA: ca, Flags: []string{memoryLimit(smallContainer)}, Memory: scaled[int64](0, smallContainer),
	})
	client := newPoster(t, p, ca)
	body := reviewtest.Body(objects, 10_000)
	took := make([]time.Duration, rounds)
	for i := range took {
		began := time.Now()
		code, answer, err := client.post(t.Context(), body)
		took[i] = time.Since(began)
		if err != nil || code != http.StatusOK || bytes.Count(answer, []byte(`"port":"8080"`)) < objects {
			t.Fatalf("answer %d of %d bytes: %v", code, len(answer), err)
		}
	}
	slices.Sort(took)
	peak := p.PeakMemory()
	if *full && load.Percentile(took, 99) > 6*time.Second {
		t.Errorf("took %s (p99)", load.Percentile(took, 99))
	}
	if most := int64(len(body)) * 7 / 2; *full && peak > most {
		t.Errorf("peak of %d MiB for a body of %d MiB", peak>>20, len(body)>>20)
	}
	t.Logf("%d objects, %d MB: p50 %s, p99 %s, peak %d MiB (%.1f bodies)", objects, len(body)/1_000_000, load.Percentile(took, 50),
		load.Percentile(took, 99), peak>>20, float64(peak)/float64(len(body)))
}
