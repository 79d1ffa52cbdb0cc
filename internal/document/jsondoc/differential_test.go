package jsondoc_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// TestDifferential holds the scanner against three libraries on random texts, half of them valid.
// By default it is short; for a long run with its progress:
//
//	JSONDOC_EXECUTIONS=100000000 go test -run TestDifferential -v -timeout 0 ./internal/document/jsondoc
//
// JSONDOC_SEED chooses other texts. An execution is one text, read by all four.
func TestDifferential(t *testing.T) {
	t.Parallel()
	executions, seed := number(t, "JSONDOC_EXECUTIONS", 100_000), number(t, "JSONDOC_SEED", 1)
	texts := newTexts(uint64(seed))
	accepted, walked, repeated := 0, 0, 0
	started, logged := time.Now(), time.Now()
	for i := range executions {
		text := texts.next()
		ok, disagreement := verdict(text)
		if disagreement != "" {
			t.Fatalf("seed %d, execution %d: %q: %s", seed, i, text, disagreement)
		}
		if ok {
			accepted++
			if accepted%8 == 0 {
				err := sameWalk(text)
				walked++
				if errors.Is(err, errRepeated) {
					repeated++
				} else if err != nil {
					t.Fatalf("seed %d, execution %d: %q: %v", seed, i, text, err)
				}
			}
		}
		if i%4096 == 0 && time.Since(logged) > 20*time.Second {
			logged = time.Now()
			t.Logf("%d executions in %v, %d accepted, %d walked", i+1, time.Since(started).Round(time.Second), accepted, walked)
		}
	}
	t.Logf("seed %d: %d executions in %v: %d accepted, %d of them walked, and %d of those repeat a name",
		seed, executions, time.Since(started).Round(time.Millisecond), accepted, walked, repeated)
	if accepted*4 < executions || (executions-accepted)*4 < executions || repeated == 0 {
		t.Errorf("texts are lopsided: %d of %d accepted, %d with repeated names", accepted, executions, repeated)
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// texts makes random texts: a value by the grammar, changed a little in half of the cases.
type texts struct {
	*rand.Rand
	text, before []byte
}

func newTexts(seed uint64) *texts { return &texts{Rand: rand.New(rand.NewPCG(seed, 8259))} } //nolint:gosec // a test

// next returns a text that is valid until the next call.
func (r *texts) next() []byte {
	r.text, r.before = r.before[:0], r.text
	r.space()
	r.value(1 + r.IntN(4))
	r.space()
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(3) {
			r.change()
		}
	}
	return r.text
}

func (r *texts) add(choices ...string) { r.text = append(r.text, choices[r.IntN(len(choices))]...) }

func (r *texts) space() {
	for r.IntN(8) == 0 {
		r.add(" ", "\n", "\t", "\r", "  ")
	}
}

func (r *texts) value(depth int) {
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		r.add("null", "true", "false")
	case 1, 2:
		r.number()
	case 3, 4, 5:
		r.string(r.length())
	case 6:
		r.list('[', ']', depth, func() {})
	default:
		r.list('{', '}', depth, func() {
			if r.IntN(2) == 0 {
				r.add(`"a"`, `"b"`, `"metadata"`, `"\u0061"`, `"\/"`, `""`)
			} else {
				r.string(r.IntN(9))
			}
			r.space()
			r.add(":")
			r.space()
		})
	}
}

func (r *texts) list(opening, closing byte, depth int, before func()) {
	r.text = append(r.text, opening)
	r.space()
	for i := range r.IntN(4) {
		if i > 0 {
			r.add(",")
			r.space()
		}
		before()
		r.value(depth - 1)
		r.space()
	}
	r.text = append(r.text, closing)
}

func (r *texts) number() {
	r.add("-", "", "")
	r.add("0", "1", "9007199254740993", "18446744073709551616", "1234567890", "10")
	r.add("", "", "", ".0", ".10", ".5e3", "e0", "E+07", "e-1", "e400")
}

// length is the length of a string in units: mostly short, sometimes longer than one step of the
// scanner.
func (r *texts) length() int {
	if r.IntN(8) == 0 {
		return r.IntN(200)
	}
	return r.IntN(20)
}

func (r *texts) string(units int) {
	r.add(`"`)
	for range units {
		switch r.IntN(16) {
		case 0:
			r.add(`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u003c`, `\uD83D\uDE00`, `\u00e9`, `\uFFFF`, `\ud800`, `\udc00`)
		case 1:
			r.add("é", "\u2028", "😀", "\u007f", "\ufffd", "\ufeff", "'")
		default:
			r.text = append(r.text, byte('a'+r.IntN(26)))
		}
	}
	r.add(`"`)
}

// change damages the text, or gives it another form.
func (r *texts) change() {
	if len(r.text) == 0 {
		r.add("{", "[", `"`, "0", " ")
		return
	}
	i := r.IntN(len(r.text))
	switch r.IntN(8) {
	case 0: // another byte
		r.text[i] = byte(r.IntN(256))
	case 1: // a byte of JSON syntax
		const alphabet = "{}[]:,\"\\0123456789+-.eEtrufalsn \n\t\r\x00\x1f\x7f\x80\xc0\xed\xef\xf4\xff/bxX"
		r.text[i] = alphabet[r.IntN(len(alphabet))]
	case 2: // some removed
		end := min(len(r.text), i+1+r.IntN(4))
		r.text = append(r.text[:i], r.text[end:]...)
	case 3: // cut off
		r.text = r.text[:i]
	case 4: // some added
		tail := string(r.text[i:])
		r.text = r.text[:i]
		r.add(",", ":", "[", "]", "{", "}", `"`, `\`, `\u`, `\ud800`, `\udc00\udc00`, "0", "-", ".", "e", "nul", "true", "NaN",
			"Infinity", "\x00", "\ufeff", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "//", "/**/", "'", "+1", "0x1")
		r.text = append(r.text, tail...)
	case 5: // a part twice
		piece := string(r.text[i:min(len(r.text), i+1+r.IntN(16))])
		tail := string(r.text[i:])
		r.text = append(append(r.text[:i], piece...), tail...)
	case 6: // the end before the start
		if len(r.before) > 0 {
			r.text = append(r.text[:i], r.before[r.IntN(len(r.before)):]...)
		}
	case 7: // two bytes swapped
		j := r.IntN(len(r.text))
		r.text[i], r.text[j] = r.text[j], r.text[i]
	}
}

// TestDifferentialEdits runs random programs of edits on random texts (see FuzzEdit). JSONDOC_EDITS
// sets how many.
func TestDifferentialEdits(t *testing.T) {
	t.Parallel()
	executions, seed := number(t, "JSONDOC_EDITS", 5_000), number(t, "JSONDOC_SEED", 1)
	texts := newTexts(uint64(seed))
	started, logged, applied := time.Now(), time.Now(), 0
	for i := range executions {
		texts.object()
		program := make([]byte, 8+texts.IntN(120))
		for j := range program {
			program[j] = byte(texts.IntN(256))
		}
		if jsontext.Value(texts.text).IsValid() {
			applied++
		}
		if disagreement := runProgram(texts.text, program); disagreement != "" {
			t.Fatalf("seed %d, execution %d: %q, program %q: %s", seed, i, texts.text, program, disagreement)
		}
		if i%1024 == 0 && time.Since(logged) > 20*time.Second {
			logged = time.Now()
			t.Logf("%d executions in %v, %d of them on valid objects", i+1, time.Since(started).Round(time.Second), applied)
		}
	}
	t.Logf("seed %d: %d executions in %v, %d of them on valid objects", seed, executions, time.Since(started).Round(time.Millisecond), applied)
	if applied*3 < executions {
		t.Errorf("only %d of %d texts could be edited", applied, executions)
	}
}

// object leaves an object in r.text.
func (r *texts) object() {
	r.text = r.text[:0]
	r.space()
	r.text = append(r.text, '{')
	for i, name := range []string{`"a"`, `"\u0062"`, `"metadata"`, `"new"`, `""`, `"n"`, `"o"`}[r.IntN(4):] {
		if i > 0 {
			r.add(",")
		}
		r.space()
		r.text = append(r.text, name...)
		r.space()
		r.add(":")
		r.value(r.IntN(4))
		r.space()
	}
	r.add("}")
	r.space()
}
