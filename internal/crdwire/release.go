package crdwire

import "slices"

// A Need is what the API server calls the webhook of a CRD for.
type Need struct {
	// All is whether its objects can be neither read nor written without: more than one version is served or stored.
	All bool
	// Idle are the versions that are neither served nor stored, where nothing else needs the webhook. Requests are for versions
	// that are served, and objects are read from those that are stored. But an object at another one is what a change is
	// compared by for a manager whose entry of managedFields is of it, and those entries stay when a version is not served any more.
	// Without the webhook such an object cannot be applied, and loses all managedFields with other changes where the API server is an older one.
	Idle []string
}

// Any reports whether the webhook is needed.
func (n *Need) Any() bool { return n.All || len(n.Idle) > 0 }

// NeedOf tells what a CRD needs its webhook for; nothing, if it points at another target. The zero Target means any webhook.
func NeedOf(crd *CRD, target Target) Need {
	at, is := TargetOf(crd)
	if !is || target != (Target{}) && !at.Same(target) {
		return Need{}
	}
	used := slices.Clone(crd.Status.StoredVersions)
	var idle []string
	for _, v := range crd.Spec.Versions {
		switch known := slices.Contains(used, v.Name); {
		case known:
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
