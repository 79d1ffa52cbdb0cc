package crdwire

import "slices"

// A Need is what the API server needs the webhook of a CRD for.
type Need struct {
	// All means that objects can be neither read nor written without it: more than one version is
	// served or stored.
	All bool
	// Idle are the versions that are neither served nor stored, if nothing else needs the webhook.
	// Requests are for served versions, and objects are read from stored ones. But managedFields
	// may have entries at an idle version, since they stay when it is no longer served, and the API
	// server converts an object to it to compare a change. Without the webhook such an object
	// cannot be applied, and older API servers drop all its managedFields at any other change.
	Idle []string
}

// Any reports whether the webhook is needed.
func (n *Need) Any() bool { return n.All || len(n.Idle) > 0 }

// NeedOf returns what a CRD needs its webhook for: nothing, if it points at another target. The
// zero Target means any webhook.
func NeedOf(crd *CRD, target Target) Need {
	at, is := TargetOf(crd)
	if !is || target != (Target{}) && !at.Same(target) {
		return Need{}
	}
	used := slices.Clone(crd.Status.StoredVersions)
	var idle []string
	for _, v := range crd.Spec.Versions {
		switch {
		case slices.Contains(used, v.Name):
		case v.Served || v.Storage:
			used = append(used, v.Name)
		default:
			idle = append(idle, v.Name)
		}
	}
	if len(used) > 1 {
		return Need{All: true}
	}
	return Need{Idle: idle}
}
