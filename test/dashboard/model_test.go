package dashboard_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/dashboard"
)

// one is a dashboard of one panel, which has these members more.
func one(panel string) string { return `{"panels": [{"id": 1, "title": "p", ` + panel + `}]}` }

const query = `"targets": [{"refId": "A", "expr": "up"}]`

func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a query":       {one(query), ""},
		"a row":         {one(`"type": "row"`), ""},
		"no JSON":       {"{", "unexpected end"},
		"no panels":     {"{}", "no panels"},
		"no query":      {one(`"type": "stat"`), "no queries"},
		"a refId twice": {one(`"targets": [{"refId": "A"}, {"refId": "A"}]`), `refId "A"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dashboard.Parse([]byte(c.text))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
