// Package database converts an example Database between three versions by Go types and a hub, as most controllers have
// them. It is the model to copy for a kind with a hub, and for what a version has no field for: the backup's retentionDays
// survive a trip through v1alpha1 in an annotation.
package database

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
)

const hub = "v1beta1"

// Kind returns the Database of example.com.
func Kind() converters.Kind {
	return converters.HubSpoke(schema.GroupKind{Group: "example.com", Kind: "Database"}, hub,
		converters.NewSpoke("v1alpha1", v1alpha1ToHub, v1alpha1FromHub),
		converters.NewSpoke("v1", v1ToHub, v1FromHub),
	)
}

func v1ToHub(_ context.Context, src *V1, dst *V1beta1) error {
	dst.Spec.Engine = src.Spec.Engine
	dst.Spec.StorageGB = src.Spec.StorageGiB
	dst.Spec.BackupPolicy = src.Spec.BackupPolicy
	dst.Status = src.Status
	return nil
}

func v1FromHub(_ context.Context, src *V1beta1, dst *V1) error {
	dst.Spec.Engine = src.Spec.Engine
	dst.Spec.StorageGiB = src.Spec.StorageGB
	dst.Spec.BackupPolicy = src.Spec.BackupPolicy
	dst.Status = src.Status
	return nil
}

func v1alpha1ToHub(_ context.Context, src *V1alpha1, dst *V1beta1) error {
	dst.Spec.Engine = src.Spec.Engine
	dst.Spec.StorageGB = src.Spec.StorageGB
	dst.Spec.BackupPolicy = policy(src.Spec.Backup, converters.LoadStash[stash](src, hub))
	dst.Status = src.Status
	return nil
}

func v1alpha1FromHub(_ context.Context, src *V1beta1, dst *V1alpha1) error {
	dst.Spec.Engine = src.Spec.Engine
	dst.Spec.StorageGB = src.Spec.StorageGB
	dst.Status = src.Status
	p := src.Spec.BackupPolicy
	if p == nil {
		return nil
	}
	dst.Spec.Backup = p.Schedule
	if p.Schedule != nil && p.RetentionDays == nil {
		return nil // all of it is in backup
	}
	var kept stash
	kept.Spec.BackupPolicy = &BackupPolicy{RetentionDays: p.RetentionDays}
	return converters.SaveStash(dst, hub, kept)
}

// stash is the part of the hub that v1alpha1 has no fields for.
type stash struct {
	Spec struct {
		BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`
	} `json:"spec"`
}

// policy returns the hub's policy for a schedule. What was kept of an earlier one has no part in the schedule, so an edit
// of that always wins, and outlives it: whoever removes the schedule may not be the one who applied the rest.
func policy(schedule *string, kept *stash) *BackupPolicy {
	switch {
	case kept != nil && kept.Spec.BackupPolicy != nil:
		return &BackupPolicy{Schedule: schedule, RetentionDays: kept.Spec.BackupPolicy.RetentionDays}
	case schedule != nil:
		return &BackupPolicy{Schedule: schedule}
	}
	return nil
}
