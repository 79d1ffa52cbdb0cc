package converters_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
)

// The spoke's Go types are as many are: with and without omitempty, pointers, types that write their own JSON, embedding.
type spoke struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec spokeSpec `json:"spec,omitempty"`
}

type spokeSpec struct {
	Common `json:",inline"`

	Old     string  `json:"old,omitempty"`
	OldPtr  *bool   `json:"oldPtr,omitempty"`
	OldList []item  `json:"oldList,omitempty"`
	OldBox  *box    `json:"oldBox,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`
	Dropped string  `json:"dropped,omitempty"`
}

type hub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec hubSpec `json:"spec,omitempty"`
}

type hubSpec struct {
	Common `json:",inline"`

	New     string  `json:"new,omitempty"`
	NewPtr  *bool   `json:"newPtr,omitempty"`
	NewList []item  `json:"newList,omitempty"`
	NewBox  *box    `json:"newBox,omitempty"`
	Share   float64 `json:"share,omitempty"`
	HubOnly string  `json:"hubOnly,omitempty"`
}

// Common is what both versions have.
type Common struct {
	Name     string                `json:"name"`
	Pause    bool                  `json:"pause,omitempty"`
	Memory   *resource.Quantity    `json:"memory,omitempty"`
	Weight   float64               `json:"weight,omitempty"`
	Items    []item                `json:"items,omitempty"`
	Options  map[string]string     `json:"options,omitempty"`
	Template *runtime.RawExtension `json:"template,omitempty"`
	Box      *box                  `json:"box,omitempty"`
}

type item struct {
	Name string `json:"name"`
	Size int64  `json:"size,omitempty"`
}

type box struct {
	Width *int64 `json:"width,omitempty"`
}

func toHub(_ context.Context, src *spoke, dst *hub) error {
	s, d := &src.Spec, &dst.Spec
	d.Common, d.New, d.NewPtr, d.NewList, d.NewBox, d.Share = s.Common, s.Old, s.OldPtr, s.OldList, s.OldBox, s.Ratio
	return nil
}

func fromHub(_ context.Context, src *hub, dst *spoke) error {
	s, d := &src.Spec, &dst.Spec
	d.Common, d.Old, d.OldPtr, d.OldList, d.OldBox, d.Ratio = s.Common, s.New, s.NewPtr, s.NewList, s.NewBox, s.Share
	return nil
}

func typedKind(toHub func(context.Context, *spoke, *hub) error) converters.Kind {
	return converters.HubSpoke(schema.GroupKind{Group: "g", Kind: "K"}, "v2", converters.NewSpoke("v1", toHub, fromHub))
}

// Each object goes to the hub and back; what it is there is text for text.
func TestHubSpokeKeepsWhatTheTypesDoNotSay(t *testing.T) {
	t.Parallel()
	rest := func(text string) string {
		return `"metadata":{"annotations":{"conversion.webhookd.io/v1.rest":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}}`
	}
	for _, test := range []struct{ name, in, there string }{
		{name: "nothing", in: `{}`, there: `{}`},
		{name: "a fragment gets no zero values", in: `{"spec":{}}`, there: `{"spec":{}}`},
		{name: "spec is null", in: `{"spec":null}`, there: `{"spec":null}`},
		{name: "a field moves", in: `{"spec":{"old":"x"}}`, there: `{"spec":{"new":"x"}}`},
		{name: "a zero that is a pointer moves", in: `{"spec":{"oldPtr":false}}`, there: `{"spec":{"newPtr":false}}`},
		{
			name:  "the text of what stays",
			in:    `{ "spec" : {"weight":1.10, "name":"\u0061", "memory":"1000m","options":{"b":"1","a":"2"},"pause":false} }`,
			there: `{ "spec" : {"weight":1.10, "name":"\u0061", "memory":"1000m","options":{"b":"1","a":"2"},"pause":false} }`,
		},
		{
			name:  "a number that the Go type cannot hold",
			in:    `{"spec":{"weight":9007199254740993}}`,
			there: `{"spec":{"weight":9007199254740993}}`,
		},
		{
			name:  "zero values and nulls of fields that stay",
			in:    `{"spec":{"name":null,"pause":null,"memory":null,"items":[],"options":{},"box":{"width":null}}}`,
			there: `{"spec":{"name":null,"pause":null,"memory":null,"items":[],"options":{},"box":{"width":null}}}`,
		},
		{
			name:  "a zero value of a field that moves",
			in:    `{"spec":{"old":"","oldList":[],"name":"x"}}`,
			there: `{"spec":{"name":"x"},` + rest(`{"spec":{"old":"","oldList":[]}}`) + `}`,
		},
		{
			name:  "a null of a field that moves",
			in:    `{"spec":{"oldPtr":null}}`,
			there: `{"spec":{},` + rest(`{"spec":{"oldPtr":null}}`) + `}`,
		},
		{
			name:  "unknown fields",
			in:    `{"spec":{"x":[1.10,{"a":null}],"box":{"y":{"b":1e21}}},"more":true}`,
			there: `{"spec":{"x":[1.10,{"a":null}],"box":{"y":{"b":1e21}}},"more":true}`,
		},
		{
			name:  "an unknown field in what moves",
			in:    `{"spec":{"oldBox":{"x":1.10,"width":1}}}`,
			there: `{"spec":{"newBox":{"width":1}},` + rest(`{"spec":{"oldBox":{"x":1.10}}}`) + `}`,
		},
		{
			name:  "an unknown field and a null in a list that stays",
			in:    `{"spec":{"items":[{"name":"a","x":1.10,"size":null},null]}}`,
			there: `{"spec":{"items":[{"name":"a","x":1.10,"size":null},null]}}`,
		},
		{
			name:  "what a type leaves to others",
			in:    `{"spec":{"template":{"a":1.10,"b":[null]}}}`,
			there: `{"spec":{"template":{"a":1.10,"b":[null]}}}`,
		},
		{
			name:  "metadata",
			in:    `{"metadata":{"name":"a","creationTimestamp":null,"x":1.0,"labels":{"a":"\u0062"},"managedFields":[{"fieldsV1":{"f:a":{}}}]},"spec":{"old":"x"}}`,
			there: `{"metadata":{"name":"a","creationTimestamp":null,"x":1.0,"labels":{"a":"\u0062"},"managedFields":[{"fieldsV1":{"f:a":{}}}]},"spec":{"new":"x"}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := typedKind(toHub)
			obj := parse(t, test.in)
			if err := kind.Convert(t.Context(), obj, "v1", "v2"); err != nil {
				t.Fatal(err)
			}
			there := string(obj.Text())
			if there != test.there {
				t.Errorf("to the hub\n got %s\nwant %s", there, test.there)
			}
			obj = parse(t, there)
			if err := kind.Convert(t.Context(), obj, "v2", "v1"); err != nil {
				t.Fatal(err)
			}
			if back := string(obj.Text()); !sameObject(t, back, test.in) {
				t.Errorf("and back\n got %s\nwant %s", back, test.in)
			}
		})
	}
}

func TestHubSpokeEditWinsOverTheRest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{name: "the field has a value", in: `{"spec":{"new":"x"},REST}`, want: `{"spec":{"old":"x"},"metadata":{}}`},
		{name: "its object is gone", in: `{REST}`, want: `{"metadata":{}}`},
		{name: "nobody edited", in: `{"spec":{},REST}`, want: `{"spec":{"old":""},"metadata":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rest := `"metadata":{"annotations":{"conversion.webhookd.io/v1.rest":` +
				`"{\"metadata\":{\"finalizers\":[]},\"spec\":{\"old\":\"\",\"oldBox\":{\"x\":1},\"name\":\"forged\",\"hubOnly\":\"forged\",\"x\":1,\"oldPtr\":\"\"}}"}}`
			obj := parse(t, strings.ReplaceAll(test.in, "REST", rest))
			kind := typedKind(toHub)
			if err := kind.Convert(t.Context(), obj, "v2", "v1"); err != nil {
				t.Fatal(err)
			}
			if got := string(obj.Text()); !sameObject(t, got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestHubSpokeLists(t *testing.T) {
	t.Parallel()
	const in = `{"spec":{"items":[{"size":1, "name":"a"},{"size":2, "name":"b"},{"size":3, "name":"c"}]}}`
	for _, test := range []struct {
		name, want string
		change     func(items []item) []item
	}{
		{
			name: "an element changes", want: `{"spec":{"items":[{"size":1, "name":"a"},{"size":7, "name":"b"},{"size":3, "name":"c"}]}}`,
			change: func(items []item) []item {
				items[1].Size = 7
				return items
			},
		},
		{
			name: "elements change places", want: `{"spec":{"items":[{"size":3, "name":"c"},{"size":1, "name":"a"},{"size":2, "name":"b"}]}}`,
			change: func(items []item) []item { return []item{items[2], items[0], items[1]} },
		},
		{
			name: "one goes and one comes", want: `{"spec":{"items":[{"size":2, "name":"b"},{"size":3, "name":"c"},{"name":"d"},{"name":"e"}]}}`,
			change: func(items []item) []item { return append(items[1:], item{Name: "d"}, item{Name: "e"}) },
		},
		{name: "all go", want: `{"spec":{}}`, change: func([]item) []item { return nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := typedKind(func(ctx context.Context, src *spoke, dst *hub) error {
				err := toHub(ctx, src, dst)
				dst.Spec.Items = test.change(dst.Spec.Items)
				return err
			})
			obj := parse(t, in)
			if err := kind.Convert(t.Context(), obj, "v1", "v2"); err != nil {
				t.Fatal(err)
			}
			if got := string(obj.Text()); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHubSpokeFailsWhereItWouldLose(t *testing.T) {
	t.Parallel()
	const lost = "the Go types of v1 and v2 would lose this, add it to both: "
	for _, test := range []struct{ name, in, want string }{
		{name: "the target knows the field", in: `{"spec":{"hubOnly":"secret"}}`, want: lost + ".spec.hubOnly"},
		{name: "the target writes the field", in: `{"spec":{"old":"x","new":"secret"}}`, want: lost + ".spec.new"},
		{name: "all of them", in: `{"spec":{"new":"secret","hubOnly":"secret","old":"x"}}`, want: lost + ".spec.new\n" + lost + ".spec.hubOnly"},
		{name: "in a list that moves", in: `{"spec":{"oldList":[{"name":"a","x":{"y":"secret"}}]}}`, want: lost + ".spec.oldList[0].x"},
		{name: "a number that moves", in: `{"spec":{"ratio":9007199254740993}}`, want: lost + ".spec.ratio"},
		{
			name: "an object that does not fit the type", in: `{"spec":{"pause":"secret"}}`,
			want: "does not fit the Go type bool, mend the object or the type: .spec.Common.pause",
		},
		{
			name: "a number that does not fit the type", in: `{"spec":{"items":[{"size":1.5}]}}`,
			want: "does not fit the Go type int64, mend the object or the type: .spec.Common.items.size",
		},
		{
			name: "a quantity that is none", in: `{"spec":{"memory":"secret"}}`,
			want: "does not fit the Go type converters_test.spoke, mend the object or the type: .",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := typedKind(toHub)
			err := kind.Convert(t.Context(), parse(t, test.in), "v1", "v2")
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestHubSpokeMetadata(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in, want string
		change         func(src *spoke, dst *hub)
	}{
		{
			name: "only labels and annotations count", in: `{"metadata":{"name":"a","annotations":{"b":"1.0"}}}`,
			want: `{"metadata":{"name":"a","annotations":{"b":"1.0","a":"<"},"labels":{"x":"y"}}}`,
			change: func(_ *spoke, dst *hub) {
				dst.Name, dst.Finalizers = "b", []string{"x"}
				dst.Annotations["a"] = "<"
				dst.Labels = map[string]string{"x": "y"}
			},
		},
		{
			name: "removed", in: `{"metadata":{"annotations":{"b":"1","a":"2"},"labels":{"x":"y"}}}`,
			want: `{"metadata":{"annotations":{"a":"2"}}}`,
			change: func(_ *spoke, dst *hub) {
				delete(dst.Annotations, "b")
				dst.Labels = nil
			},
		},
		{
			name: "made", in: `{}`, want: `{"metadata":{"labels":{"x":"y"}}}`,
			change: func(_ *spoke, dst *hub) { dst.Labels = map[string]string{"x": "y"} },
		},
		{
			name: "a function may copy and change its source", in: `{"metadata":{"labels":{"x":"y"}},"spec":{"options":{"a":"1"}}}`,
			want: `{"metadata":{"labels":{"x":"y","z":""}},"spec":{"options":{"a":"2"}}}`,
			change: func(src *spoke, dst *hub) {
				dst.ObjectMeta = src.ObjectMeta
				src.Labels["z"], src.Spec.Options["a"] = "", "2"
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := typedKind(func(ctx context.Context, src *spoke, dst *hub) error {
				err := toHub(ctx, src, dst)
				test.change(src, dst)
				return err
			})
			obj := parse(t, test.in)
			if err := kind.Convert(t.Context(), obj, "v1", "v2"); err != nil {
				t.Fatal(err)
			}
			if got := string(obj.Text()); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHubSpokeKnowsItsVersions(t *testing.T) {
	t.Parallel()
	kind := typedKind(toHub)
	if _, err := converters.NewRegistry(kind); err != nil {
		t.Error(err)
	}
	err := kind.Convert(t.Context(), parse(t, `{}`), "v1", "v3")
	if err == nil || err.Error() != "no Go types convert v2 to v3, add a spoke: .apiVersion" {
		t.Errorf("error %v", err)
	}
	twice := converters.HubSpoke(kind.GroupKind, "v2", converters.NewSpoke("v1", toHub, fromHub), converters.NewSpoke("v1", toHub, fromHub))
	if _, err := converters.NewRegistry(twice); err == nil {
		t.Error("a spoke that is there twice is no error")
	}
}

func TestHubSpokeFailsWhereAnElementWithMoreGoes(t *testing.T) {
	t.Parallel()
	kind := typedKind(func(ctx context.Context, src *spoke, dst *hub) error {
		err := toHub(ctx, src, dst)
		dst.Spec.Items = dst.Spec.Items[1:]
		return err
	})
	err := kind.Convert(t.Context(), parse(t, `{"spec":{"items":[{"name":"a","x":"secret"},{"name":"b","x":1}]}}`), "v1", "v2")
	const want = "the Go types of v1 and v2 would lose this, add it to both: .spec.items[0].x"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
