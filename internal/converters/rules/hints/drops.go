package hints

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A Drop is a place of the version From that the conversion to To loses on purpose.
type Drop = struct{ From, To, Path string }

// Drops returns what a Conversion drops: what `drop` names, and its counterparts in every other
// version. What a version drops on the way to the hub, it drops on the way to all others; Drops
// does not repeat that.
func Drops(k *binding.Kind) []Drop {
	directions := check.Explain(k)
	var drops []Drop
	for _, d := range directions {
		for _, a := range d.Atoms {
			if a.Class != check.Dropped {
				continue
			}
			drops = append(drops, Drop{d.From, d.To, a.Path})
			if d.From == k.Conversion.Hub {
				drops = append(drops, others(k.Conversion.Hub, directions, d.To, a.Path)...)
			}
		}
	}
	return slices.Compact(drops)
}

// others returns what the versions except to lose with a place of the hub that the conversion to
// that version drops.
func others(hub string, directions []check.Direction, to, path string) []Drop {
	var drops []Drop
	for _, d := range directions {
		if d.To != hub || d.From == to {
			continue
		}
		for _, a := range d.Atoms {
			target := a.To
			if target == "" && (a.Class == check.Copied || a.Class == check.Mapped) {
				target = a.Path
			}
			if target != "" && (syntax.Within(target, path) || syntax.Within(path, target) && a.Kind == check.Value) {
				drops = append(drops, Drop{d.From, to, a.Path})
			}
		}
	}
	return drops
}
