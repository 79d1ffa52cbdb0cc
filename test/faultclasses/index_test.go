package faultclasses_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root  = "../.."
	table = "classes.tsv"
)

// ids are those of the table, in order.
func ids() []string {
	all := make([]string, 0, 65)
	for i := range 40 {
		all = append(all, fmt.Sprintf("I%02d", i+1))
	}
	for i := range 28 {
		all = append(all, fmt.Sprintf("D%02d", i+1))
	}
	return all
}

// owed are classes that no test holds yet. It is to be empty, and is never to grow.
func owed() []string { return nil }

func TestEveryClassHasItsTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(ids(), func(id string) bool { return slices.Contains(owed(), id) })
	for _, problem := range problems(string(text), want, newTree(root)) {
		t.Error(problem)
	}
}

func TestWhatIsWrongWithAnIndexIsFound(t *testing.T) {
	t.Parallel()
	tree := newTree(t.TempDir())
	for name, text := range map[string]string{
		"a/a_test.go": `package a

import "testing"

func TestA(t *testing.T) { t.Run("the sun", func(t *testing.T) { shine(t) }) }
func TestSkips(t *testing.T) { t.Skip("not now") }
func TestSkipsBelow(t *testing.T) { helper(t) }
func TestOf(t *testing.T, more int) {}
func TestPoints(t testing.T) {}
func FuzzA(f *testing.F) { f.Fuzz(func(t *testing.T, s string) {}) }
func helper(t *testing.T) { shine(t); deeper(t) }
func deeper(t *testing.T) { if testing.Short() { t.SkipNow() } }
func shine(t *testing.T) { var s scanner; s.Skip() }

type scanner struct{}

func (s *scanner) Skip() { s.Skip() }
`,
		"a/a.go":                 "package a\n\nfunc TestProduct() {}\n",
		"a/never_test.go":        "//go:build never\n\npackage a\n\nimport \"testing\"\n\nfunc TestNever(t *testing.T) {}\n",
		"a/b/scenarios.go":       "package b\n\nvar _ = \"Scenario\"\n",
		"a/testdata/night.txtar": "",
		"c/c.go":                 "package c\n",
	} {
		file := filepath.Join(tree.root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		rows string
		want []string
	}{
		"good":                 {"I01\tx\ty\ta.TestA, a.FuzzA\nD01\tx\ty\ta.TestA/the sun\n", nil},
		"subtests elsewhere":   {"I01\tx\ty\ta.TestA/Scenario, a.TestA/night\nD01\tx\ty\ta.TestA/\n", []string{"D01: `a.TestA/` is no test: write `folder.TestName` or `folder.TestName/subtest`, with commas between"}},
		"nothing":              {"", []string{"I01: there is no row", "D01: there is no row"}},
		"not in order":         {"D01\tx\ty\ta.TestA\nI01\tx\ty\ta.TestA\n", []string{"rows are of D01, I01, want I01, D01"}},
		"twice":                {"I01\tx\ty\ta.TestA\nD01\tx\ty\ta.TestA\nI01\tx\ty\ta.TestA\n", []string{"rows are of I01, D01, I01, want I01, D01"}},
		"unknown class":        {"I01\tx\ty\ta.TestA\nD01\tx\ty\ta.TestA\nD26\tx\ty\ta.TestA\n", []string{"rows are of I01, D01, D26, want I01, D01"}},
		"no test":              {"I01\tx\ty\t\nD01\tx\ty\tlater\n", []string{"I01: `` is no test", "D01: `later` is no test"}},
		"an empty cell":        {"I01\t\ty\ta.TestA\nD01\tx\t\ta.TestA\n", []string{"I01: an empty cell", "D01: an empty cell"}},
		"no such test":         {"I01\tx\ty\ta.TestB\nD01\tx\ty\tc.TestA\n", []string{"I01: there is no TestB in a", "D01: there is no TestA in c"}},
		"no such folder":       {"I01\tx\ty\td.TestA\nD01\tx\ty\ta.TestProduct\n", []string{"I01: there is no TestA in d", "D01: there is no TestProduct in a"}},
		"no such subtest":      {"I01\tx\ty\ta.TestA/the moon\nD01\tx\ty\ta.TestA/sun\n", []string{"I01: nothing in a is called \"the moon\"", "D01: nothing in a is called \"sun\""}},
		"never compiled":       {"I01\tx\ty\ta.TestNever\nD01\tx\ty\ta.TestA\n", []string{"I01: there is no TestNever in a"}},
		"skips":                {"I01\tx\ty\ta.TestSkips\nD01\tx\ty\ta.TestSkipsBelow\n", []string{"I01: a.TestSkips may skip", "D01: a.TestSkipsBelow may skip"}},
		"tests in name only":   {"I01\tx\ty\ta.TestOf\nD01\tx\ty\ta.TestPoints\n", []string{"I01: there is no TestOf in a", "D01: there is no TestPoints in a"}},
		"rows in another form": {"I01 x y a.TestA\nD01\tx\ty\tz\ta.TestA\n", []string{"I01: there is no row", "D01: there is no row"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problems(tt.rows, []string{"I01", "D01"}, tree)
			same := func(want, got string) bool { return strings.HasPrefix(got, want) }
			if !slices.EqualFunc(tt.want, got, same) {
				t.Errorf("problems (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}

var (
	row  = regexp.MustCompile(`(?m)^([A-Z]\d+)\t([^\t\n]*)\t([^\t\n]*)\t([^\t\n]*)$`)
	held = regexp.MustCompile(`^([a-z0-9/-]+)\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/(.+))?$`)
)

// problems says what is wrong with a table that is to have a row for each id.
func problems(text string, want []string, tests *tree) []string {
	rows := row.FindAllStringSubmatch(text, -1)
	got := make([]string, 0, len(rows))
	var all []string
	for _, r := range rows {
		id := r[1]
		got = append(got, id)
		if strings.TrimSpace(r[2]) == "" || strings.TrimSpace(r[3]) == "" {
			all = append(all, id+": an empty cell")
		}
		for named := range strings.SplitSeq(strings.TrimSpace(r[4]), ", ") {
			if problem := tests.problem(named); problem != "" {
				all = append(all, id+": "+problem)
			}
		}
	}
	missing := false
	for _, id := range want {
		if !slices.Contains(got, id) {
			all, missing = append(all, id+": there is no row"), true
		}
	}
	if !missing && !slices.Equal(got, want) {
		all = append(all, fmt.Sprintf("rows are of %s, want %s", strings.Join(got, ", "), strings.Join(want, ", ")))
	}
	return all
}
