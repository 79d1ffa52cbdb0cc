package controlplane_test

import (
	"testing"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// TestControlPlane runs its parts on one control plane, in an order that matters: the controllers
// start late, see MigrateCommand. A part can be run alone: -run TestControlPlane/Kubectl.
func TestControlPlane(t *testing.T) {
	p := plane.Start(t)
	for _, part := range []struct {
		name string
		run  func(t *testing.T, p *plane.Plane)
	}{
		{"Wire", wire},
		{"Defaults", defaults},
		{"Kubectl", kubectl},
		{"Rules", rules},
		{"RBAC", rbac},
		{"Plugin", plugin},
		{"Live", live},
		{"Status", status},
		{"Export", export},
		{"Failures", failures},
		{"Never", never},
		{"MigrateCommand", migrateCommand},
		{"Guard", guard},
		{"ConversionGuard", guardConversion},
		{"Gate", gate},
		{"Away", away},
		{"Protect", protect},
		{"Tutorial", tutorial},
		{"Charts", charts},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.run(t, p)
		})
	}
}
