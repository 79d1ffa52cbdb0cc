package cases

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
)

// hintDrops follows a difference with a hint: if rules drop the value on purpose, a FROM-to-TO file
// can say so.
func (s *testSuite) hintDrops(c *testCase, d direction) {
	file := c.versions[d.to]
	if file == nil || c.oneWay[d] != nil {
		return
	}
	paths := s.drops(file, d.to)
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(s.out.Stdout, "  hint: rules drop %s; if that is what is missing, add an empty %s.%s-to-%s%s, and --update writes it\n",
		strings.Join(paths, ", "), c.name, d.from, d.to, filepath.Ext(file.name))
}

// drops returns the paths of a version that rules drop.
func (s *testSuite) drops(file *caseFile, version string) []string {
	k := s.set.BoundKind(file.gvk.GroupKind())
	if k == nil {
		return nil
	}
	var paths []string
	for _, drop := range hints.Drops(k) {
		if drop.From == version && !slices.Contains(paths, drop.Path) {
			paths = append(paths, drop.Path)
		}
	}
	return paths
}
