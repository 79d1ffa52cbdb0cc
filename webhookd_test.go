package webhookd_test

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd"
	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
)

// A mistake ends the program before it does anything, and names the option.
func TestMainRefusesBadOptions(t *testing.T) {
	t.Parallel()
	kind := conversion.Must(conversion.Lossless(conversion.Func(convert), crd))
	for want, option := range map[string]webhookd.Option{
		"webhookd.Main: options[0] is nil": nil,
		"webhookd.WithKinds: kind without a converter, set Converter: Widget.example.com": webhookd.WithKinds(conversion.Kind{
			GroupKind: kind.GroupKind, Hub: kind.Hub, Versions: kind.Versions,
		}),
		"webhookd.WithKinds: two converters for one kind, keep one: Widget.example.com": webhookd.WithKinds(kind, kind),
		"webhookd.WithFunctions: function without ToHub or ToSpoke: example.com/f":      webhookd.WithFunctions(map[string]rules.Function{"example.com/f": {}}),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("panic %s\nwant  %s", got, want)
				}
			}()
			webhookd.Main(option)
		})
	}
}
