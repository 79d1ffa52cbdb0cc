package yamledit

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// parsed parses a text without this package, which the laws are about.
func parsed(t *testing.T, text []byte, isJSON bool) []any {
	t.Helper()
	name := "f.yaml"
	if isJSON {
		name = "f.json"
	}
	file, err := manifest.ParseFile(name, text)
	if err != nil {
		t.Fatalf("the new text cannot be read: %v\n%s", err, text)
	}
	values := make([]any, len(file.Documents))
	for i, document := range file.Documents {
		values[i] = decoded(t, document)
	}
	return values
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

var documentEnd = regexp.MustCompile(`(?m)^(---|\.{3})`)

// checkLaws edits one document of a file and checks the result: it has the wanted value, other
// documents have theirs, the text outside the document is the same, and comments are there or
// said to be lost. It returns whether the edit was possible.
func checkLaws(t *testing.T, text []byte, isJSON bool, rng *rand.Rand) (edited, ok bool) {
	t.Helper()
	parse := ParseYAML
	if isJSON {
		parse = ParseJSON
	}
	file, err := parse(text)
	if err != nil || len(file.Documents) == 0 {
		return false, false
	}
	i := rng.IntN(len(file.Documents))
	value, err := parseValue(file.Documents[i].JSON)
	if err != nil {
		t.Fatal(err)
	}
	mutate(rng, value)
	if value.kind != mapping {
		return false, false
	}
	values := make([][]byte, len(file.Documents))
	values[i] = []byte(value.json())
	result, err := file.Edit(values)
	if err != nil {
		return true, false
	}
	before, after := parsed(t, text, isJSON), parsed(t, result.Text, isJSON)
	before[i] = decoded(t, values[i])
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("the new text has other values than wanted:\n%s\n--- wanted\n%s\n--- new\n%s", text, values[i], result.Text)
	}
	checkOutside(t, file, i, text, result.Text)
	if !isJSON {
		checkComments(t, text, result, i)
	}
	return true, true
}

// checkOutside compares the text before and behind an edited document.
func checkOutside(t *testing.T, file *File, i int, before, after []byte) {
	t.Helper()
	starts := lineStarts(string(before))
	head := before[:starts[file.Documents[i].Line-1]]
	tail := before[len(head):]
	if end := documentEnd.FindIndex(tail); end != nil && !file.json && end[0] > 0 {
		tail = tail[end[0]:]
	} else {
		tail = nil
	}
	if !bytes.HasPrefix(after, head) || !bytes.HasSuffix(after, tail) {
		t.Fatalf("text outside of document %d has changed:\n%s\n--- new\n%s", i, before, after)
	}
}

var marked = regexp.MustCompile(`#c\d+#`)

// checkComments looks for the comments #c1#, #c2# and so on.
func checkComments(t *testing.T, before []byte, result Result, i int) {
	t.Helper()
	lost := map[int]bool{}
	for _, line := range result.LostComments[i] {
		lost[line] = true
	}
	for number, line := range strings.Split(string(before), "\n") {
		for _, comment := range marked.FindAllString(line, -1) {
			if !lost[number+1] && bytes.Count(result.Text, []byte(comment)) != 1 {
				t.Fatalf("comment %s is there %d times and not said to be lost:\n%s\n--- new\n%s",
					comment, bytes.Count(result.Text, []byte(comment)), before, result.Text)
			}
		}
	}
}

const (
	lawSeeds = 2
	// lawRounds is how often each text with comments is changed.
	lawRounds = 150
)

// The manifests of this repository.
func TestLawsOfManifests(t *testing.T) {
	t.Parallel()
	var edits, done int
	for _, root := range []string{"../../../examples", "../../../testdata", "../../../deploy"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || manifest.FormatOf(path) == "" {
				return err
			}
			info, err := entry.Info()
			if err != nil || info.Size() > 32<<10 {
				return err
			}
			text, err := os.ReadFile(path) //nolint:gosec // the repository's own files
			if err != nil {
				return err
			}
			rng := seeded(uint64(len(text)))
			for range lawSeeds {
				edited, ok := checkLaws(t, text, manifest.FormatOf(path) == manifest.FormatJSON, rng)
				edits, done = edits+number(edited), done+number(ok)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if edits < 100 || done*100 < edits*95 {
		t.Errorf("%d of %d edits are possible, want 95 in a hundred", done, edits)
	}
}

func seeded(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same mutations every time
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Documents with comments at all places.
func TestLawsOfComments(t *testing.T) {
	t.Parallel()
	var edits, done int
	for _, text := range commented {
		for seed := range uint64(lawRounds) {
			edited, ok := checkLaws(t, []byte(text), false, seeded(seed))
			edits, done = edits+number(edited), done+number(ok)
		}
	}
	if done*100 < edits*90 { // others change an alias
		t.Errorf("%d of %d edits are possible, want 90 in a hundred", done, edits)
	}
}

var commented = []string{ //nolint:gochecknoglobals // seeds of tests
	`# header #c1#

# first #c2#
apiVersion: example.com/v1 # line #c3#
kind: A
# of metadata #c4#
metadata: # behind #c5#
  # above name #c6#
  name: "a"   # name #c7#
  labels: {x: 'y', z: "1"} # flow #c8#
  # end of metadata #c9#
spec:
    # deep #c10#
    text: |  
      a # no comment

      b
    # list #c11#
    list:
      # one #c12#
      - name: one # c #c13#
        value: 1
        # end of one #c14#
      - name: two

        value: 2 # v #c15#
      # three #c16#
      - {name: three}
    plain: several
      lines # l #c17#
    nothing: # empty #c18#
    folded: >-
      x
      y
    nested:
    -   - a # n #c19#
        - b
    -
        c: 1 # n #c20#
# foot #c21#
---
# other #c22#
other: document
`,
	"a: 1\r\n# c #c1#\r\nb:\r\n- x: 1 # c #c2#\r\n  y: 2\r\n\r\n# c #c3#\r\nc: 'a\r\n\r\n  b'\r\nd: [1, 2,\r\n  3] # c #c4#\r\n",
	`a: {b: 1, c: [x, "y", 'z'], d: {}} # #c1#
b: [
  1, # one #c2#
  {k: v},
  # end #c3#
]
c: &anchor
  x: 1 # #c4#
d: *anchor
e:
  <<: *anchor
  y: 2 # #c5#
`,
}

// Any text, JSON or YAML.
func FuzzEdit(f *testing.F) {
	for _, text := range commented {
		f.Add([]byte(text), false, uint64(1))
	}
	f.Add([]byte("{\"a\": [1, {\"b\": \"\\/\"}],\n\t\"c\": {}}\n"), true, uint64(3))
	f.Add([]byte("a: \"x\\\n  y\"\nb: !!str 1\nc: &x [*y, {? a : b}]\n"), false, uint64(5))
	f.Add([]byte("\uFEFFa: 1\n--- |\n  x\n...\n--- {a: b,\n c: }\n"), false, uint64(5))
	f.Fuzz(func(t *testing.T, text []byte, isJSON bool, seed uint64) {
		if len(text) > 4<<10 {
			return
		}
		checkLaws(t, bytes.ReplaceAll(text, []byte("#c"), []byte("# c")), isJSON, seeded(seed))
	})
}
