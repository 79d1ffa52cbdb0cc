package database

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The Go types of the three versions. A controller has them in its packages api/v1alpha1,
// api/v1beta1 and api/v1. Fields that move between versions are pointers, to distinguish absent
// from zero.

// V1alpha1 is the Database of v1alpha1.
type V1alpha1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   V1alpha1Spec `json:"spec,omitempty"`
	Status Status       `json:"status,omitempty"`
}

// V1alpha1Spec is what the user wants.
type V1alpha1Spec struct {
	// Engine is the database's engine and its version, such as postgres-17.
	Engine *string `json:"engine,omitempty"`
	// StorageGB is the size of the storage. In spite of its name it always was in GiB.
	StorageGB *int64 `json:"storageGB,omitempty"`
	// Backup is a cron schedule. Without one there are no backups.
	Backup *string `json:"backup,omitempty"`
}

// V1beta1 is the Database of v1beta1, the hub and storage version.
type V1beta1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   V1beta1Spec `json:"spec,omitempty"`
	Status Status      `json:"status,omitempty"`
}

// V1beta1Spec is what the user wants.
type V1beta1Spec struct {
	Engine       *string       `json:"engine,omitempty"`
	StorageGB    *int64        `json:"storageGB,omitempty"`
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`
}

// V1 is the Database of v1.
type V1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   V1Spec `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

// V1Spec is what the user wants.
type V1Spec struct {
	Engine       *string       `json:"engine,omitempty"`
	StorageGiB   *int64        `json:"storageGiB,omitempty"`
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`
}

// BackupPolicy says when backups are made and for how long they are kept.
type BackupPolicy struct {
	// Schedule is a cron schedule.
	Schedule *string `json:"schedule,omitempty"`
	// RetentionDays is how long a backup is kept.
	RetentionDays *int64 `json:"retentionDays,omitempty"`
}

// Status is the observed state. It is the same in all versions.
type Status struct {
	Ready      bool               `json:"ready,omitempty"`
	Endpoint   string             `json:"endpoint,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}
