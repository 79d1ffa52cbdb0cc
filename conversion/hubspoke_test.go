package conversion_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// The spoke's Go types are typical: fields with and without omitempty, pointers, types with their
// own JSON, embedding.
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
	Mixed   string  `json:"mixed,omitempty"`
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
	Mixed   *int64  `json:"mixed,omitempty"`
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
	Wait     metav1.Duration       `json:"wait,omitempty,omitzero"`
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

func toSpoke(_ context.Context, src *hub, dst *spoke) error {
	s, d := &src.Spec, &dst.Spec
	d.Common, d.Old, d.OldPtr, d.OldList, d.OldBox, d.Ratio = s.Common, s.New, s.NewPtr, s.NewList, s.NewBox, s.Share
	return nil
}

func typedKind(toHub func(context.Context, *spoke, *hub) error) converters.Kind {
	typed := conversion.HubSpoke("v2", conversion.NewSpoke("v1", toHub, toSpoke))
	return conversion.Internal(conversion.Must(conversion.Lossless(typed, typedCRD())))
}

func typedCRD() []byte {
	const common = `
		name: {type: string, nullable: true}
		pause: {type: boolean, nullable: true}
		memory: {x-kubernetes-int-or-string: true, nullable: true}
		weight: {type: number, nullable: true}
		items: {type: array, items: {type: object, nullable: true, properties: {name: {type: string}, size: {type: integer, nullable: true}}}, nullable: true}
		options: {type: object, additionalProperties: {type: string}, nullable: true}
		template: {type: object, x-kubernetes-preserve-unknown-fields: true, nullable: true}
		box: {type: object, properties: {width: {type: integer, nullable: true}}, nullable: true}
		wait: {type: string, nullable: true}
`
	const v1 = common + `
		old: {type: string, nullable: true}
		oldPtr: {type: boolean, nullable: true}
		oldList: {type: array, items: {type: object, nullable: true, properties: {name: {type: string, nullable: true}, size: {type: integer, nullable: true}}}, nullable: true}
		oldBox: {type: object, properties: {width: {type: integer, nullable: true}}, nullable: true}
		ratio: {type: number, nullable: true}
		dropped: {type: string, nullable: true}
		mixed: {type: string, nullable: true}
`
	const v2 = common + `
		new: {type: string, nullable: true}
		newPtr: {type: boolean, nullable: true}
		newList: {type: array, items: {type: object, nullable: true, properties: {name: {type: string, nullable: true}, size: {type: integer, nullable: true}}}, nullable: true}
		newBox: {type: object, properties: {width: {type: integer, nullable: true}}, nullable: true}
		share: {type: number, nullable: true}
		hubOnly: {type: string, nullable: true}
		mixed: {type: integer, nullable: true}
`
	return crdOf(strings.ReplaceAll(v1, "\n\n", "\n"), strings.ReplaceAll(v2, "\n\n", "\n"))
}

// Each object goes to the hub and back. The test compares its text at the hub without kept values,
// and the names and texts of their annotations.
func TestHubSpokeKeepsWhatTheTypesDoNotSay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in, there string
		kept            map[string]string
	}{
		{name: "nothing", in: `{}`, there: `{}`},
		{name: "a fragment gets no zero values", in: `{"spec":{}}`, there: `{"spec":{}}`},
		{name: "spec is null", in: `{"spec":null}`, there: `{"spec":null}`},
		{name: "a null that the Go type refuses", in: `{"spec":{"wait":null,"old":"x"}}`, there: `{"spec":{"wait":null,"new":"x"}}`},
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
			name: "such a number where it moves",
			in:   `{"spec":{"ratio":9007199254740993}}`, there: `{"spec":{"share":9007199254740992}}`,
			kept: map[string]string{"v1.spec.ratio": `{"value":9007199254740993,"inputs":"…"}`},
		},
		{
			name:  "zero values and nulls of fields that stay",
			in:    `{"spec":{"name":null,"pause":null,"memory":null,"items":[],"options":{},"box":{"width":null}}}`,
			there: `{"spec":{"name":null,"pause":null,"memory":null,"items":[],"options":{},"box":{"width":null}}}`,
		},
		{
			name: "a zero value of a field that moves",
			in:   `{"spec":{"old":"","oldList":[],"name":"x"}}`, there: `{"spec":{"name":"x"}}`,
			kept: map[string]string{"v1.spec.old": `{"value":""}`, "v1.spec.oldList": `{"value":[]}`},
		},
		{
			name: "a null of a field that moves", in: `{"spec":{"oldPtr":null}}`, there: `{"spec":{}}`,
			kept: map[string]string{"v1.spec.oldPtr": `{"value":null}`},
		},
		{
			name: "a zero value that another type has", in: `{"spec":{"mixed":""}}`, there: `{"spec":{}}`,
			kept: map[string]string{"v1.spec.mixed": `{"value":""}`},
		},
		{
			name: "a field that the other version lacks", in: `{"spec":{"dropped":"x"}}`, there: `{"spec":{}}`,
			kept: map[string]string{"v1.spec.dropped": `{"value":"x"}`},
		},
		{
			name: "unknown fields stay, and are kept", in: `{"spec":{"x":[1.10,{"a":null}],"box":{"y":{"b":1e21}}},"more":true}`,
			there: `{"spec":{"x":[1.10,{"a":null}],"box":{"y":{"b":1e21}}},"more":true}`,
			kept:  map[string]string{"v1.more": `{"value":true}`, "v1.spec.x": `{"value":[1.10,{"a":null}]}`, "v1.spec.box.y": `{"value":{"b":1e21}}`},
		},
		{
			name: "an unknown field in what moves", in: `{"spec":{"oldBox":{"x":1.10,"width":1}}}`, there: `{"spec":{"newBox":{"width":1}}}`,
			kept: map[string]string{"v1.spec.oldBox.x": `{"value":1.10,"in":1}`},
		},
		{
			name: "an unknown field and a null in a list that stays", in: `{"spec":{"items":[{"name":"a","x":1.10,"size":null},null]}}`,
			there: `{"spec":{"items":[{"name":"a","x":1.10,"size":null},null]}}`,
			kept: map[string]string{
				"v1.spec.items": `{"list":{"length":2,"elements":{"0":{"was":"…","kept":[{"value":1.10,"path":["x"]}],"alike":"…"}}}}`,
			},
		},
		{
			name: "an unknown field in a list that moves", in: `{"spec":{"oldList":[{"name":"a","x":{"y":"z"}}]}}`,
			there: `{"spec":{"newList":[{"name":"a"}]}}`,
			kept: map[string]string{
				"v1.spec.oldList": `{"list":{"length":1,"elements":{"0":{"was":"…","kept":[{"value":{"y":"z"},"path":["x"]}],"alike":"…"}}}}`,
			},
		},
		{
			name: "a field that only the other type knows", in: `{"spec":{"hubOnly":{"a":1}}}`, there: `{"spec":{}}`,
			kept: map[string]string{"v1.spec.hubOnly.a": `{"value":1,"in":1}`},
		},
		{
			name: "one that the other type is given", in: `{"spec":{"old":"x","new":1}}`, there: `{"spec":{"new":"x"}}`,
			kept: map[string]string{"v1.spec.new": `{"value":1}`},
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
			there := convert(t, kind, test.in, "v1", "v2")
			seen, kept := withoutKept(t, there)
			if seen != test.there {
				t.Errorf("to the hub\n got %s\nwant %s", seen, test.there)
			}
			if diff := cmp.Diff(test.kept, kept, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if back := convert(t, kind, there, "v2", "v1"); !sameObject(t, back, test.in) {
				t.Errorf("and back\n got %s\nwant %s", back, test.in)
			}
		})
	}
}

// convert returns an object after a conversion.
func convert(t *testing.T, kind converters.Kind, object, from, to string) string {
	t.Helper()
	obj := parse(t, object)
	if err := kind.Convert(t.Context(), obj, from, to); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return string(obj.Text())
}

// withoutKept splits an object that was converted to v2 into its text without the kept values of
// v1, and these by the names of their annotations, without digests.
func withoutKept(t *testing.T, object string) (text string, kept map[string]string) {
	t.Helper()
	digests := regexp.MustCompile(`"(inputs|was|alike)":"[^"]*"`)
	whole := regexp.MustCompile(`,?"object":"[^"]*"`)
	obj := parse(t, object)
	annotations, err := obj.Get("metadata", "annotations")
	if err != nil {
		t.Fatal(err)
	}
	kept = map[string]string{}
	err = annotations.Each(func(name string, value *jsondoc.Node) bool {
		if text, own := value.Str(); own && annotation.IsOwn(name) {
			kept[strings.TrimPrefix(name, annotation.Prefix)] = digests.ReplaceAllString(whole.ReplaceAllString(text, ""), `"$1":"…"`)
		}
		return true
	})
	if err == nil {
		_, err = annotation.Take(obj, annotation.Versions{From: "v1", To: "v2"}, &annotation.Memory{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(obj.Text()), `,"metadata":{}`, "", 1), kept
}

// A kept value never hides an edit. One that does not fit the Go type is not restored, and the
// object does not fail.
func TestHubSpokeEditWinsOverWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, spec, kept, want string }{
		{name: "no edit", spec: `{"name":"a"}`, kept: `"v1.spec.old":"{\"value\":\"\"}"`, want: `{"name":"a","old":""}`},
		{name: "the field has a value", spec: `{"new":"x"}`, kept: `"v1.spec.old":"{\"value\":\"\"}"`, want: `{"old":"x"}`},
		{name: "a number is another", spec: `{"share":1}`, kept: `"v1.spec.ratio":"{\"value\":2,\"inputs\":\"x\"}"`, want: `{"ratio":1}`},
		{name: "an object that is gone", spec: `{}`, kept: `"v1.spec.oldBox.x":"{\"value\":1,\"in\":2}"`, want: `{}`},
		{name: "an unknown field", spec: `{"x":2}`, kept: `"v1.spec.x":"{\"value\":1}"`, want: `{"x":2}`},
		{name: "of another type", spec: `{}`, kept: `"v1.spec.old":"{\"value\":1}","v1.spec.oldList":"{\"value\":[{\"name\":{}}]}"`, want: `{}`},
		{
			name: "an error of the type's own decoder", spec: `{"new":"x"}`,
			kept: `"v1.spec.memory":"{\"value\":\"none\"}"`, want: `{"old":"x"}`,
		},
		{name: "what conversions do not change", spec: `{}`, kept: `"v1.metadata.finalizers":"{\"value\":[]}"`, want: `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			annotations := strings.ReplaceAll(test.kept, `"v1.`, `"`+annotation.Prefix+`v1.`)
			back := convert(t, typedKind(toHub), `{"metadata":{"annotations":{`+annotations+`}},"spec":`+test.spec+`}`, "v2", "v1")
			if want := `{"spec":` + test.want + `}`; !sameObject(t, back, want) {
				t.Errorf("got %s, want %s", back, want)
			}
		})
	}
}

// A field that no Go type knows is noted. If the API server prunes it from the other version, it
// returns. If not, that version's value wins, and no annotation is left.
func TestHubSpokeUnknownFields(t *testing.T) {
	t.Parallel()
	kind := typedKind(toHub)
	const in = `{"spec":{"x":1,"old":"y"}}`
	var report converters.Report
	obj := parse(t, in)
	if err := kind.Convert(new(converters.ReportContext).With(t.Context(), &report), obj, "v1", "v2"); err != nil || !report.UnknownFields {
		t.Errorf("error %v, noted %+v", err, report)
	}
	there := string(obj.Text())
	for now, want := range map[string]string{
		`"x":1,`: `{"spec":{"x":1,"old":"y"}}`,
		`"x":2,`: `{"spec":{"x":2,"old":"y"}}`,
		``:       `{"spec":{"x":1,"old":"y"}}`, // the hub has none, and the annotation says so
	} {
		back := convert(t, kind, strings.Replace(there, `"x":1,`, now, 1), "v2", "v1")
		if seen, _ := withoutKept(t, back); !sameObject(t, seen, want) || now != "" && !sameObject(t, back, want) {
			t.Errorf("%s at the hub: %s, want %s", now, back, want)
		}
	}
	if err := kind.Convert(new(converters.ReportContext).With(t.Context(), &report), parse(t, `{"spec":{"old":"y"}}`), "v1", "v2"); err != nil {
		t.Error(err)
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
			there := convert(t, kind, in, "v1", "v2")
			if got, _ := withoutKept(t, there); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if back := convert(t, kind, there, "v2", "v1"); !sameObject(t, back, in) {
				t.Errorf("and back\n got %s\nwant %s", back, in)
			}
		})
	}
}

func TestHubSpokeFailsWhereTheTypeDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{
			name: "an object that does not fit the type", in: `{"spec":{"pause":"secret"}}`,
			want: "cannot be decoded into the Go type bool, correct the object or the type: .spec.Common.pause",
		},
		{
			name: "a number that does not fit the type", in: `{"spec":{"items":[{"size":1.5}]}}`,
			want: "cannot be decoded into the Go type int64, correct the object or the type: .spec.Common.items.size",
		},
		{
			name: "a quantity that is none", in: `{"spec":{"memory":"secret"}}`,
			want: "cannot be decoded into the Go type conversion_test.spoke, correct the object or the type: .",
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
			there := convert(t, kind, test.in, "v1", "v2")
			if got, _ := withoutKept(t, there); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if back := convert(t, kind, there, "v2", "v1"); !sameObject(t, back, test.in) {
				t.Errorf("and back\n got %s\nwant %s", back, test.in)
			}
		})
	}
}

func TestHubSpokeKnowsItsVersions(t *testing.T) {
	t.Parallel()
	kind := typedKind(toHub)
	err := kind.Convert(t.Context(), parse(t, `{}`), "v1", "v3")
	if err == nil || err.Error() != "no conversion of v2 to v3, go over the hub: .apiVersion" {
		t.Errorf("error %v", err)
	}
}
