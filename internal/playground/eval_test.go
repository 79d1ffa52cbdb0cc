package playground

import (
	"fmt"
	"strings"
	"testing"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

func TestTry(t *testing.T) {
	all, err := Gallery()
	if err != nil { t.Fatal(err) }
	for _, e := range all {
		fmt.Println("=====", e.Name, e.Title, len(e.Objects))
		if !strings.Contains("widget crontab-rules map-list pick labels", e.Name) { continue }
		for i, o := range e.Objects {
			if i > 3 { break }
			out := NewEvaluator(ruleset.Compiled{}).Eval(t.Context(), Input{CRD: e.CRD, Rules: e.Rules, Object: o.Text})
			fmt.Println("---", o.Name, out.Findings, out.Milliseconds)
			for _, c := range out.Conversions {
				fmt.Println("  ->", c.Version, c.Problem, c.Differences, c.Invalid)
				for _, f := range c.Fields {
					fmt.Printf("     %-9s %s:%d -> %s:%d  [%s] %s\n", f.Class, f.From, f.FromLine, f.To, f.ToLine, f.Rule, f.Reason)
				}
			}
		}
	}
}
