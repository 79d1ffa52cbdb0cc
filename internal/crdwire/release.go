package crdwire

import "slices"

// InUse reports whether the API server may call the webhook of a CRD: there is more than one version that is served or that
// objects are stored in. The zero Target means any webhook.
func InUse(crd *CRD, target Target) bool {
	at, is := TargetOf(crd)
	if !is || target != (Target{}) && !at.Same(target) {
		return false
	}
	return len(usedVersions(crd)) > 1
}

// usedVersions returns the versions that are served or that objects are stored in.
func usedVersions(crd *CRD) []string {
	var used []string
	for _, v := range crd.Spec.Versions {
		if v.Served || v.Storage || slices.Contains(crd.Status.StoredVersions, v.Name) {
			used = append(used, v.Name)
		}
	}
	for _, name := range crd.Status.StoredVersions {
		if !slices.Contains(used, name) {
			used = append(used, name)
		}
	}
	return used
}
