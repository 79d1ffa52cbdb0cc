package keep

import "testing"

// Without a trace nothing is noted, and elements are where they were.
func TestNoTrace(t *testing.T) {
	t.Parallel()
	var none *Trace
	list := none.Add("list", 0)
	if inner := list.Enter(Source{Index: 1}); list != nil || inner != nil {
		t.Errorf("a list %v with an element %v", list, inner)
	}
	list.Drop()
	if none.list("list") != nil || none.ruleSet("list") != nil {
		t.Error("there is a list")
	}
	n, inner, err := list.source(nodeOf(t, `["a","b"]`), 1)
	if err != nil || inner != nil || !n.IsStr("b") {
		t.Errorf("%s, %v, %v", n.Text(), inner, err)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	root := &Trace{}
	list := root.Add("list", 0)
	list.Enter(Source{Index: 0, Name: "a"}).Add("first", 0)
	list.Enter(Source{Index: 1, Name: "b"})
	list.Drop() // its program leaves nothing of it
	list.Enter(Source{Index: 2, Name: "c"}).Add("third", 0)
	root.Add("rule set", 0).Enter(Source{}).Add("applied", 0)
	gone := root.Add("left out", 0)
	gone.Enter(Source{})
	gone.Drop()

	list = root.list("list")
	if list == nil || root.list("other") != nil || root.list(nil) != nil {
		t.Error("it finds another list")
	}
	if root.ruleSet("rule set").list("applied") == nil || root.ruleSet("other") != nil {
		t.Error("it finds another rule set")
	}
	for name, test := range map[string]struct {
		source, want string
		index        int
		inner        string
	}{
		"the first element":               {`[0,1,2]`, `0`, 0, "first"},
		"an element behind a dropped one": {`[0,1,2]`, `2`, 1, "third"},
		"an element that is not there":    {`[0,1,2]`, ``, 2, ""},
		"none":                            {`[0,1,2]`, ``, -1, ""},
		"an entry of a map":               {`{"c":2,"a":0}`, `2`, 1, "third"},
		"a source that is shorter":        {`[0]`, ``, 1, "third"},
		"no source":                       {`null`, ``, 0, "first"},
	} {
		n, inner, err := list.source(nodeOf(t, test.source), test.index)
		if err != nil || string(n.Text()) != test.want || (inner.list(test.inner) == nil) != (test.inner == "") {
			t.Errorf("%s is %s", name, n.Text())
		}
	}
	if root.ruleSet("left out") != nil {
		t.Error("a rule set has left something of an object of which nothing is left")
	}
}
