package hold

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// The schemas have the lists of the rows below, that of v2 but for those that rules make.
const (
	hiddenV1 = `properties: {
		a: {type: string, default: x}, d: {type: string, default: x}, o: {type: object, properties: {a: {type: string}, b: {type: string}}}, m: {type: object, additionalProperties: {type: string}},
		keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, a: {type: string}, b: {type: string}}}},
		list: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}, made: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}},
		nested: {type: array, items: {type: object, properties: {k: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}},
		words: {type: array, items: {type: string}}}`
	hiddenV2 = `properties: {a: {type: string}, nested: {type: array, items: {type: object, properties: {k: {type: array, items: {type: object, properties: {a: {type: string}, c: {type: string}}}}}}},
		keyed: {type: array, items: {type: object}}, list: {type: array, items: {type: object}}, words: {type: array, items: {type: string}}}`
)

func TestHidden(t *testing.T) {
	t.Parallel()
	crd := crdschematest.Kind(t, 1, hiddenV1, hiddenV2)
	for name, test := range map[string]struct {
		was, now, shown, source, path string
		back                          bool
	}{
		"nothing is edited":                        {was: `{"a":"b"}`, now: `{"a":"b"}`, shown: `{"a":"kept"}`},
		"an edit shows":                            {was: `{"a":"b"}`, now: `{"a":"c"}`, shown: `{"a":"c","o":{"b":"kept"}}`},
		"an edit is hidden":                        {was: `{"a":"b"}`, now: `{"a":"c"}`, shown: `{"a":"b"}`, path: ".a"},
		"a default of both versions goes":          {was: `{"a":"x"}`, now: `{}`, shown: `{"a":"kept"}`, source: `{"a":"kept"}`, path: ".a"},
		"a default is chosen":                      {was: `{"a":"b"}`, now: `{"a":"x"}`, shown: `{"a":"b"}`, path: ".a"},
		"a part of what is kept elsewhere":         {was: `{"o":{"a":"b","b":"c"}}`, now: `{"o":{"b":"c"}}`, shown: `{}`, back: true},
		"a member goes":                            {was: `{"o":{"a":"b"}}`, now: `{}`, shown: `{"o":{"b":"kept"}}`},
		"a member stays":                           {was: `{"o":{"a":"b"}}`, now: `{}`, shown: `{"o":{"a":"b","b":"kept"}}`, path: ".o.a"},
		"an empty object stays":                    {was: `{"o":{}}`, now: `{}`, shown: `{"o":{}}`, path: ".o"},
		"an object loses all, and is not there":    {was: `{"o":{"a":"b"}}`, now: `{"o":{}}`, shown: `{}`},
		"an object loses a member, and the other":  {was: `{"o":{"a":"b","b":"c"}}`, now: `{"o":{"a":"b"}}`, shown: `{}`, path: ".o"},
		"a member of an object that is not there":  {was: `{"o":{"a":"b"}}`, now: `{"o":{"a":"c"}}`, shown: `{}`, path: ".o"},
		"an object is not there":                   {was: `{}`, now: `{"o":{}}`, shown: `{}`, path: ".o"},
		"a key of a map goes":                      {was: `{"m":{"k":"b","l":"c"}}`, now: `{"m":{"l":"c"}}`, shown: `{"m":{"k":"b","l":"c"}}`, path: ".m.k"},
		"an element with a key is edited":          {was: `{"keyed":[{"name":"n","a":"b"}]}`, now: `{"keyed":[{"name":"n","a":"c"}]}`, shown: `{"keyed":[{"name":"k"},{"name":"n","a":"c"}]}`},
		"the edit of an element is hidden":         {was: `{"keyed":[{"name":"n","a":"b"}]}`, now: `{"keyed":[{"name":"n","a":"c"}]}`, shown: `{"keyed":[{"name":"n","a":"b"}]}`, path: `.keyed["n"].a`},
		"an element with a key goes":               {was: `{"keyed":[{"name":"n","a":"b"}]}`, now: `{"keyed":[]}`, shown: `{"keyed":[]}`},
		"but is still there":                       {was: `{"keyed":[{"name":"n"}]}`, now: `{"keyed":[]}`, shown: `{"keyed":[{"name":"n"}]}`, path: `.keyed["n"].name`},
		"but its parts are still there":            {was: `{"keyed":[{"name":"n","a":"b"}]}`, now: `{}`, shown: `{"keyed":[{"name":"n","b":"kept"}]}`},
		"an element goes, and another with it":     {was: `{"keyed":[{"name":"n"},{"name":"m"}]}`, now: `{"keyed":[{"name":"m"}]}`, shown: `{}`},
		"an element comes and is not shown":        {was: `{"keyed":[]}`, now: `{"keyed":[{"name":"m"}]}`, shown: `{}`, path: `.keyed["m"]`},
		"an element without a key is edited":       {was: `{"list":[{"a":"1","b":"2"}]}`, now: `{"list":[{"a":"1","b":"3"}]}`, shown: `{"list":[{"a":"kept","b":"3"}]}`},
		"and that is hidden":                       {was: `{"list":[{"a":"1","b":"2"}]}`, now: `{"list":[{"a":"1","b":"3"}]}`, shown: `{"list":[{"a":"1","b":"2"}]}`, path: ".list[0]"},
		"another element has what was kept":        {was: `{"list":[{"a":"1"}]}`, now: `{"list":[{"a":"2"}]}`, shown: `{"list":[{"a":"2","b":"kept"}]}`, path: ".list[0]"},
		"or what rules compute from outside of it": {was: `{"list":[{"a":"1"}]}`, now: `{"list":[{"a":"2"}]}`, shown: `{"list":[{"a":"2","b":"made"}]}`, back: true},
		"an element is another one":                {was: `{"list":[{"a":"1"}]}`, now: `{"list":[{"a":"2"}]}`, shown: `{"list":[{"a":"2"}]}`},
		"another one has what was kept":            {was: `{"list":[{"a":"1"}]}`, now: `{"list":[{"a":"2"}]}`, shown: `{"list":[{"a":"2","b":"kept"}]}`, path: ".list[0]"},
		"unless rules make the list":               {was: `{"made":[{"a":"1"}]}`, now: `{"made":[{"a":"2"}]}`, shown: `{"made":[{"a":"2","b":"kept"}]}`},
		"one comes next to one with a kept part":   {was: `{"made":[{"a":"1"}]}`, now: `{"made":[{"a":"1"},{"a":"2"}]}`, shown: `{"made":[{"a":"2","b":"k"},{"a":"1","b":"k"}]}`},
		"one comes and is hidden":                  {was: `{"made":[{"a":"1"}]}`, now: `{"made":[{"a":"1"},{"a":"2"}]}`, shown: `{"made":[{"a":"3","b":"k"},{"a":"1","b":"k"}]}`, path: ".made[0]"},
		"one loses a part that is still there":     {was: `{"list":[{"a":"1","b":"2"},{"a":"2"}]}`, now: `{"list":[{"a":"1"},{"a":"2"}]}`, shown: `{"list":[{"a":"1","b":"2"},{"a":"2","b":"k"}]}`, path: ".list[0]"},
		"elements change places":                   {was: `{"list":[{"a":"1"},{"a":"2"}]}`, now: `{"list":[{"a":"2"},{"a":"1"}]}`, shown: `{"list":[{"a":"2","b":"k"},{"a":"1"}]}`},
		"an element that goes is still there":      {was: `{"words":["a","b"]}`, now: `{"words":["b"]}`, shown: `{"words":["a","b"]}`, source: `{"words":["a","b"]}`, path: ".words"},
		"one that was not shown is there":          {was: `{"words":["a","b"]}`, now: `{"words":["b"]}`, shown: `{"words":["k","b"]}`, source: `{"words":["k","a","b"]}`},
		"a list goes":                              {was: `{"words":["a"]}`, now: `{}`, shown: `{"words":["a"]}`, source: `{"words":["a"]}`, path: ".words"},
		"a list is another kind of value":          {was: `{"words":["a"]}`, now: `{"words":"a"}`, shown: `{"words":["a"]}`, path: ".words"},
		"an edit and a kept part in a nested list": {was: `{"nested":[{"k":[{},{"a":"0"}]}]}`, now: `{"nested":[{"k":[{"a":"1"},{"a":"0"}]}]}`, shown: `{"nested":[{"k":[{"a":"1"},{"a":"0","b":"kept"}]}]}`, source: `{"nested":[{"k":[{},{"a":"0","b":"kept"}]}]}`},
		"elements with the same keys":              {was: `{"keyed":[{"name":"n"},{"name":"n"}]}`, now: `{"keyed":[{"name":"n"}]}`, shown: `{"keyed":[{"name":"n"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.source == "" {
				test.source = "{}"
			}
			got := hidden(nodes{crd.Version("v1").Root, crd.Version("v2").Root, test.back}, states{
				now: tree.Read([]byte(test.now)), was: tree.Read([]byte(test.was)), shown: tree.Read([]byte(test.shown)), source: tree.Read([]byte(test.source)),
			}, "")
			if got.Path != test.path {
				t.Errorf("%q is hidden, want %q", got.Path, test.path)
			}
		})
	}
}

// What the schema fills in where something was kept is no edit that is hidden.
func TestAddObjects(t *testing.T) {
	t.Parallel()
	crd := crdschematest.Kind(t, 1, `properties: {o: {type: object, properties: {a: {type: string}, p: {type: object}}}, filled: {type: object, default: {a: x}}, m: {type: object}}`)
	object := tree.Read([]byte(`{"m":"text"}`))
	addObjects(crd.Version("v1").Root, object, tree.Read([]byte(`{"o":{"a":"b","p":{}},"filled":{"a":"kept"},"m":{}}`)))
	if got := string(tree.Encode(object)); got != `{"m":"text","o":{"p":{}}}` {
		t.Errorf("got %s", got)
	}
}
