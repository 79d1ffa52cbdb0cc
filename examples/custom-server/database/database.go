// Package database converts an example Database between three versions with Go types and a hub, as
// most controllers do. It is the model to copy for a kind with a hub. V1alpha1 has no field for the
// backup's retentionDays: the functions ignore it, and Lossless keeps it.
package database

import (
	"context"

	"github.com/crdconvert/webhookd/conversion"
)

// Kind returns the Database of its CRD.
func Kind(crd []byte) (conversion.Kind, error) {
	return conversion.Lossless(conversion.HubSpoke("v1beta1",
		conversion.NewSpoke("v1alpha1", v1alpha1ToHub, v1alpha1FromHub),
		conversion.NewSpoke("v1", v1ToHub, v1FromHub),
	), crd)
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
	if src.Spec.Backup != nil {
		dst.Spec.BackupPolicy = &BackupPolicy{Schedule: src.Spec.Backup}
	}
	dst.Status = src.Status
	return nil
}

func v1alpha1FromHub(_ context.Context, src *V1beta1, dst *V1alpha1) error {
	dst.Spec.Engine = src.Spec.Engine
	dst.Spec.StorageGB = src.Spec.StorageGB
	if src.Spec.BackupPolicy != nil {
		dst.Spec.Backup = src.Spec.BackupPolicy.Schedule
	}
	dst.Status = src.Status
	return nil
}
