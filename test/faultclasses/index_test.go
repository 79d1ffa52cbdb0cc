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

const root = "../.."

// ids are the rows of a table: letters, and how many rows each has.
func ids(format string, letters map[string]int) []string {
	var all []string
	for letter, count := range letters {
		for n := range count {
			all = append(all, fmt.Sprintf(format, letter, n+1))
		}
	}
	return all
}

func TestEveryClassHasItsTests(t *testing.T) {
	t.Parallel()
	text := read(t, "classes.tsv")
	want := append(ids("%s%02d", map[string]int{"I": 40}), ids("%s%02d", map[string]int{"D": 28})...)
	for _, problem := range problems(text, want, tree(root)) {
		t.Error(problem)
	}
}

// Pages that name tests have all their rows, and their tests are there.
func TestPagesNameTestsThatAreThere(t *testing.T) {
	t.Parallel()
	held := regexp.MustCompile("`([a-z0-9/]+) (Test\\w+)`")
	for page, rows := range map[string][]string{
		"docs/contributing/invariants.md": ids("%s%d", map[string]int{"I": 13}),
		"test/oracle/faults/README.md":    ids("%s%d", map[string]int{"E": 6, "C": 13, "P": 5, "R": 16, "S": 1}),
	} {
		text := read(t, filepath.Join(root, page))
		for _, row := range rows {
			if !strings.Contains(text, "\n| "+row+" |") {
				t.Errorf("%s: no row %s", page, row)
			}
		}
		for _, named := range held.FindAllStringSubmatch(text, -1) {
			if problem := tree(root).problem(named[1], named[2], ""); problem != "" {
				t.Errorf("%s: %s", page, problem)
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatIsWrongWithAnIndexIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a_test.go":            "func TestA(t *testing.T) {\n\tt.Run(\"the sun\", nil)\n}\n\nfunc FuzzA(f *testing.F) {\n}\n\nfunc TestOf(t *testing.T, more int) {\n}\n",
		"a/a.go":                 "package a\n\nfunc TestProduct(t *testing.T) {\n}\n",
		"a/never_test.go":        "//go:build never\n\npackage a\n\nfunc TestNever(t *testing.T) {\n}\n",
		"a/testdata/night.txtar": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = "I01\tx\ty\ta.TestA/night, a.FuzzA\n"
	for rows, want := range map[string][]string{
		good + "D01\tx\ty\ta.TestA/the sun\n": nil,
		good:                                  {"D01: there is no row"},
		"D01\tx\ty\ta.TestA\n" + good:         {"rows are of D01, I01, want I01, D01"},
		good + "D01\tx\ty\ta.TestA\nD02\tx\ty\ta.TestA\n":    {"rows are of I01, D01, D02, want I01, D01"},
		good + "D01\t\ty\tlater, a.TestB\n":                  {"D01: an empty cell", "D01: `later` is no test: write `folder.TestName` or `folder.TestName/subtest`, with commas between", "D01: there is no TestB in a"},
		good + "D01\tx\ty\td.TestA, a.TestNever, a.TestOf\n": {"D01: there is no TestA in d", "D01: there is no TestNever in a", "D01: there is no TestOf in a"},
		good + "D01\tx\ty\ta.TestA/sun, a.TestProduct\n":     {"D01: nothing in a is called \"sun\"", "D01: there is no TestProduct in a"},
	} {
		if diff := cmp.Diff(want, problems(rows, []string{"I01", "D01"}, tree(dir))); diff != "" {
			t.Errorf("%s(-want +got):\n%s", rows, diff)
		}
	}
}

var (
	row  = regexp.MustCompile(`(?m)^([A-Z]\d+)\t([^\t\n]*)\t([^\t\n]*)\t([^\t\n]*)$`)
	held = regexp.MustCompile(`^([a-z0-9/-]+)\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/(.+))?$`)
)

// problems says what is wrong with a table that is to have a row for each id.
func problems(text string, want []string, tests tree) []string {
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
			problem := "`" + named + "` is no test: write `folder.TestName` or `folder.TestName/subtest`, with commas between"
			if parts := held.FindStringSubmatch(named); parts != nil {
				problem = tests.problem(parts[1], parts[2], parts[3])
			}
			if problem != "" {
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
