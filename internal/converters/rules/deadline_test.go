package rules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// A dated is a conversion of 20,000 entries, or of elements.
type dated struct {
	pair
	from, object string
}

func datedConversions(t *testing.T) map[string]dated {
	t.Helper()
	const n = 20_000
	all := map[string]dated{}
	plain, kept := bigMapOf(n, "0s"), bigMapOf(n, "0")
	all["nothing kept"] = dated{bigMap(), "v1beta1", plain}
	all["nothing kept, back"] = dated{bigMap(), "v1", strings.ReplaceAll(strings.Replace(plain, "v1beta1", "v1", 1), `"0s"`, "0")}
	all["all kept"] = dated{bigMap(), "v1beta1", kept}
	// The kept values of all do not fit, so some are kept as if the limit were higher.
	annotations := make([]string, 0, n)
	for i := range n {
		annotations = append(annotations, fmt.Sprintf(`{"value":"0","path":["k%d"]}`, i))
	}
	text := string(jsondoc.StringValue(`{"parts":[` + strings.Join(annotations, ",") + `]}`).Text())
	all["all kept, back"] = dated{bigMap(), "v1", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n","annotations":{` +
		`"conversion.webhookd.io/v1beta1.spec.timeouts":` + text + `}},"spec":{"timeouts":{` + numbered(n, `"k%d":0`) + `}}}`}

	defaults := pair{
		beta: "{spec: {timeouts: {'*': string}, l: [{d: integer}]}}", v1: "{spec: {timeouts: {'*': integer}, l: [{d: integer = 1}]}}",
		rules: bigMap().rules,
	}
	all["all kept, next to defaults"] = dated{defaults, "v1beta1", strings.Replace(kept, `"spec":{`, `"spec":{"l":[{}],`, 1)}

	lists := pair{
		beta:  "{spec: {l: [{a: string, only: string}], k: [{name: string, a: string, only: string}, name]}}",
		v1:    "{spec: {l: [{a: integer}], k: [{name: string, a: integer}, name]}}",
		rules: "- {spoke: '.spec.l[].a', hub: '.spec.l[].a', codec: DurationSeconds}\n- {spoke: '.spec.k[].a', hub: '.spec.k[].a', codec: DurationSeconds}",
	}
	all["elements with keys"] = dated{lists, "v1beta1", head("v1beta1", `,"spec":{"k":[`+numbered(n, `{"name":"n%d","a":"0","only":"x"}`)+`]}`)}
	all["elements without keys"] = dated{lists, "v1beta1", head("v1beta1", `,"spec":{"l":[`+numbered(10_000, `{"a":"%d","only":"x"}`)+`]}`)}
	all["many lists without keys"] = dated{
		pair{beta: "{spec: {m: {'*': [{a: string, only: string}]}}}", v1: "{spec: {m: {'*': [{a: string}]}}}"},
		"v1beta1",
		head("v1beta1", `,"spec":{"m":{`+numbered(2_000, `"k%d":[{"a":"a","only":"x"},{"a":"b","only":"y"},{"a":"c"},{"a":"d"}]`)+`}}`),
	}
	return all
}

func numbered(n int, format string) string {
	texts := make([]string, 0, n)
	for i := range n {
		texts = append(texts, fmt.Sprintf(format, i))
	}
	return strings.Join(texts, ",")
}

func (d dated) convert(t *testing.T, ctx context.Context, kind *converters.Kind) error { //nolint:revive // t first, as everywhere here
	t.Helper()
	obj, err := jsondoc.ParseObject([]byte(d.object))
	if err != nil {
		t.Fatalf("%v: %.300s", err, d.object)
	}
	return kind.Convert(ctx, obj, d.from, other(d.from))
}

// Whatever a conversion is doing when its deadline passes, it soon ends with the error of the
// context. It checks the deadline for every few hundred values, and hardly again once that has
// passed.
func TestTheDeadlineIsLookedAtEverywhere(t *testing.T) {
	t.Parallel()
	for name, d := range datedConversions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := d.kind(t)
			if !kind.Interruptible() {
				t.Error("the kind does not say that it looks at its context")
			}
			whole := &costtest.Countdown{Context: t.Context(), Left: 1 << 30}
			if err := d.convert(t, whole, kind); errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			looks := 1<<30 - whole.Left
			if looks < 40 {
				t.Errorf("the deadline is looked at %d times", looks)
			}
			for i := range 11 {
				c := &costtest.Countdown{Context: t.Context(), Left: i * (looks - 1) / 20}
				if err := d.convert(t, c, kind); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %d of %d looks: %v", i*(looks-1)/10, looks, err)
				}
				if c.Late > 4 {
					t.Errorf("after %d of %d looks there are %d more", i*(looks-1)/10, looks, c.Late)
				}
			}
		})
	}
}

// A conversion whose deadline has passed before it begins does little: it only reads what was kept.
//
//nolint:paralleltest // it counts allocations
func TestAContextThatIsOverIsSeenAtOnce(t *testing.T) {
	for name, d := range datedConversions(t) {
		t.Run(name, func(t *testing.T) {
			kind := d.kind(t)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := d.convert(t, over, kind); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			allocations := func(ctx context.Context) float64 {
				return testing.AllocsPerRun(1, func() { _ = d.convert(t, ctx, kind) })
			}
			if is, whole := allocations(over), allocations(t.Context()); is > whole/4 {
				t.Errorf("%.0f allocations of the %.0f of a whole conversion", is, whole)
			}
		})
	}
}
