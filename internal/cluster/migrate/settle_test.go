package migrate

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Only a change that is surely old needs no wait, whatever the clocks of the API server and of this
// machine say.
func TestAChangeSettles(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	at := func(age time.Duration) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: now.Add(-age)}}}
	}
	for name, tt := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    time.Duration
	}{
		"long ago":                        {at(48 * time.Hour), 0},
		"just now, by a clock hours slow": {at(14 * time.Hour), time.Minute},
		"just now, by a clock hours fast": {at(-14 * time.Hour), time.Minute},
		"not known":                       {nil, time.Minute},
		"partly known":                    {append(at(48*time.Hour), metav1.ManagedFieldsEntry{}), time.Minute},
		"the last of two":                 {append(at(48*time.Hour), at(time.Hour)...), time.Minute},
		"of status, which does not count": {append(at(48*time.Hour), metav1.ManagedFieldsEntry{Subresource: "status"}), 0},
	} {
		c := &crd{}
		c.Metadata.ManagedFields = tt.entries
		if got := settledAt(c, now, time.Minute).Sub(now); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
