package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/test/hostile"
)

// TestWebhookdIsRight plays all but the large requests against webhookd. A score that it cannot
// reach would be no measure.
func TestWebhookdIsRight(t *testing.T) {
	t.Parallel()
	own, err := newWebhookd()
	if err != nil {
		t.Fatal(err)
	}
	cases := slices.DeleteFunc(hostile.Cases(), func(c hostile.Case) bool { return c.Set == hostile.Sizes })
	p := peer{name: "webhookd", handler: own}
	s := p.play(cases)
	for _, problem := range s.wrong {
		t.Error(problem)
	}
	if s.sets[hostile.Syntax].played < 3*318 {
		t.Errorf("%d requests of %s", s.sets[hostile.Syntax].played, hostile.Syntax)
	}
}

// TestPeersConvert: what is ordinary is right with every peer.
func TestPeersConvert(t *testing.T) {
	t.Parallel()
	all, err := peers()
	if err != nil {
		t.Fatal(err)
	}
	cases := slices.DeleteFunc(hostile.Cases(), func(c hostile.Case) bool {
		return c.Name != "review version v1" && c.Name != "500 objects" && c.Name != "objects null" && c.Name != "kind unknown"
	})
	if len(cases) != 4 {
		t.Fatalf("%d cases, want 4", len(cases))
	}
	for _, p := range all {
		for _, problem := range p.play(cases).wrong {
			t.Errorf("%s: %s", p.name, problem)
		}
	}
}

// TestWrongAnswersAreWrong gives answers that no server should give.
func TestWrongAnswersAreWrong(t *testing.T) {
	t.Parallel()
	cases := hostile.Cases()
	find := func(name string) *hostile.Case {
		i := slices.IndexFunc(cases, func(c hostile.Case) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("no case %q", name)
		}
		return &cases[i]
	}
	const head = `{"response":{"uid":"` + hostile.UID + `",`
	good := find("review version v1").Want.Whole()
	for _, test := range []struct {
		name, of, body string
		code           int
		right, changed bool
	}{
		{"as it should be", "review version v1", good, http.StatusOK, true, false},
		{"a failure", "review version v1", head + `"result":{"status":"Failed","message":"x"}}}`, http.StatusOK, false, false},
		{"an error", "review version v1", "x", http.StatusBadRequest, false, false},
		{"another uid", "review version v1", `{"response":{"uid":"x","convertedObjects":[],"result":{"status":"Success"}}}`, http.StatusOK, false, false},
		{"no objects", "review version v1", head + `"convertedObjects":[],"result":{"status":"Success"}}}`, http.StatusOK, false, true},
		{"no review", "review version v1", "{}", http.StatusOK, false, false},
		{"a success of nothing", "kind unknown", head + `"convertedObjects":[{}],"result":{"status":"Success"}}}`, http.StatusOK, false, false},
		{"no message", "kind unknown", head + `"result":{"status":"Failed"}}}`, http.StatusOK, false, false},
		{"a failure with a message", "kind unknown", head + `"result":{"status":"Failure","message":"x"}}}`, http.StatusOK, true, false},
		{"an error in place of a failure", "kind unknown", "x", http.StatusBadRequest, true, false},
		{"a defect", "kind unknown", "x", http.StatusInternalServerError, false, false},
		{"a redirect", "kind unknown", "", http.StatusFound, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			problem, changed := verdict(find(test.of), test.code, []byte(test.body))
			if (problem == "") != test.right || changed != test.changed {
				t.Errorf("problem %q, changed %t", problem, changed)
			}
		})
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"1", "1.0", true},
		{"100", "1e2", true},
		{"0.010", "1E-2", true},
		{"-0", "0", true},
		{"1e400", "10e399", true},
		{"9007199254740993", "9007199254740992", false},
		{"1", "-1", false},
		{"1e400", "0", false},
	} {
		if same := normal(json.Number(test.a)) == normal(json.Number(test.b)); same != test.same {
			t.Errorf("%s and %s are the same: %t", test.a, test.b, same)
		}
	}
}
