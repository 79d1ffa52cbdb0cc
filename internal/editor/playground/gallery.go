package playground

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/examples"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// An Example is one to start with.
type Example struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	CRD   string `json:"crd"`
	Rules string `json:"rules"`
	// Objects are named NAME.VERSION.
	Objects []NamedObject `json:"objects"`
}

// A NamedObject is an object of an Example.
type NamedObject struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Gallery returns the examples of the repository that need no function of their own, the best to
// begin with first.
func Gallery() ([]Example, error) {
	crds, err := fs.Glob(examples.Rules, "*/crd.yaml")
	if err != nil {
		return nil, err
	}
	index, err := examples.Rules.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	var all []Example
	for _, crd := range crds {
		e, err := readExample(path.Dir(crd), string(index))
		if err != nil {
			return nil, err
		}
		if e.Rules != "" && !strings.Contains(e.Rules, "\n    - go:") && !strings.Contains(e.Rules, " go: ") {
			all = append(all, e)
		}
	}
	first := []string{"widget", "crontab-rules", "cronjob"}
	slices.SortStableFunc(all, func(a, b Example) int { return rank(first, a.Name) - rank(first, b.Name) })
	return all, nil
}

func rank(first []string, name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

// readExample reads an example. The index has its title, in the first sentence about its folder.
func readExample(name, index string) (e Example, err error) {
	e.Name = name
	_, line, _ := strings.Cut(index, "- [`"+name+"/`]("+name+"): ")
	e.Title, _, _ = strings.Cut(line, ". ")
	for _, file := range []struct {
		name string
		text *string
	}{{"crd.yaml", &e.CRD}, {"rules.yaml", &e.Rules}} {
		text, err := examples.Rules.ReadFile(path.Join(name, file.name))
		if err != nil {
			return e, nil //nolint:nilerr // a folder without rules is no example of the page
		}
		*file.text = string(text)
	}
	cases, err := fs.Glob(examples.Rules, name+"/cases/*.yaml")
	if err != nil {
		return e, err
	}
	for _, c := range cases {
		if strings.Contains(path.Base(c), "-to-") {
			continue // what a case becomes
		}
		text, err := examples.Rules.ReadFile(c)
		if err != nil {
			return e, err
		}
		e.Objects = append(e.Objects, NamedObject{strings.TrimSuffix(path.Base(c), ".yaml"), string(text)})
	}
	// A long one shows most, and one that keeps nothing yet is the easier to read.
	slices.SortStableFunc(e.Objects, func(a, b NamedObject) int {
		return cmp.Or(boolean(keeps(a))-boolean(keeps(b)), strings.Count(b.Text, "\n")-strings.Count(a.Text, "\n"))
	})
	return e, nil
}

func keeps(o NamedObject) bool { return strings.Contains(o.Text, annotation.Prefix) }
