package review_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// FuzzLiteral puts any value, any spelling of a name and any white space next to, around and into
// what converters edit. A review returns untouched and moved text byte for byte (invariant I6).
func FuzzLiteral(f *testing.F) {
	for _, value := range literals() {
		for which := range untouched() {
			f.Add(uint8(which), []byte(value), []byte(`"n"`), " ")
		}
	}
	for _, name := range []string{`""`, `"\u006b"`, `"\ud83d\ude00"`, `"a\/b"`, `"metadata"`, `"hostPort"`, `"\u0000"`} {
		f.Add(uint8(1), []byte(`{"a":[1.0]}`), []byte(name), "\r\n\t")
	}
	f.Add(uint8(1), []byte(`{"":1,"":2}`), []byte(`"n"`), " ")
	reviewers := []*review.Reviewer{
		newReviewer(f, nothing, review.Hooks{}), newReviewer(f, all(touch, moving), review.Hooks{}), builtinReviewer(f),
	}
	f.Fuzz(func(t *testing.T, which uint8, value, name []byte, space string) {
		if !fits(value, name, space) {
			return
		}
		fill := strings.NewReplacer("$", strings.Trim(string(value), " \t\r\n"), "#", string(name), "~", space).Replace
		verbatim := fill(`{"apiVersion":"example.com/v1",~"kind":"None",~"metadata"~:~{~"x":$}~,"o":{#:$}~}`)
		i := int(which) % len(reviewers)
		object := fill(untouched()[i].object)
		body, want := request(object, verbatim, object), fill(untouched()[i].want)
		got, err := reviewers[i].Review(t.Context(), nil, body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if all := `"convertedObjects":[` + want + "," + verbatim + "," + want + "]"; !bytes.Contains(got, []byte(all)) {
			t.Fatalf("got %s\nwant %s\nfrom %s", got, all, body)
		}
	})
}

// untouched returns, for each reviewer of FuzzLiteral, an object and its conversion. $ is the
// value, # the name and ~ white space.
func untouched() []struct{ object, want string } {
	return []struct{ object, want string }{
		{
			`{~"apiVersion"~:~"example.com/v1beta1","kind":"Widget","metadata":{~"name":"a","x":$~},~"o":{~#~:~$~}}`,
			`{~"apiVersion"~:~"example.com/v1","kind":"Widget","metadata":{~"name":"a","x":$~},~"o":{~#~:~$~}}`,
		},
		{
			`{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{},"s":$,"spec":{"b":~$~,"old":$,"l":[~$,{~#~:$}],"from":$,"a":$}~,~"end":~$~}`,
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{},"s":$,"spec":{"b":~$~,"l":[~$,{~#~:$}],"a":$,"new":"v1","nested":{"to":$}}~,~"end":~$~}`,
		},
		{
			`{~"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"x":~$},~"n":{~#:~$~}~,"hostPort":"h:1","o":[~$~,~$~]}`,
			`{~"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"x":~$},~"n":{~#:~$~}~,"o":[~$~,~$~],"host":"h","port":"1"}`,
		},
	}
}

// moving moves .spec.from to .spec.nested.to.
func moving(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	_, err := obj.Move([]string{"spec", "from"}, []string{"spec", "nested", "to"})
	return err
}

// fits reports whether the parts make objects that webhookd accepts.
func fits(value, name []byte, space string) bool {
	isName := jsontext.Value(name).Kind() == '"' && jsontext.Value(name).IsValid()
	return isName && len(value)+len(space) < 1<<10 && strings.Trim(space, " \t\r\n") == "" &&
		jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true)) && depthOf(value) < jsondoc.MaxDepth-3
}

// depthOf returns how deep a text is nested.
func depthOf(text []byte) (depth int) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				return depth
			}
			return depth + 1<<20
		}
		depth = max(depth, d.StackDepth())
	}
}
