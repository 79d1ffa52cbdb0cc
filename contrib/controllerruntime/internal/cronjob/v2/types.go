// Package v2 has the CronJob of kubebuilder's tutorial at its second version, a spoke: its schedule
// has a field for each part.
//
// +groupName=batch.tutorial.example.com
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v1"
)

// CronJobSpec says what to run, and when.
type CronJobSpec struct {
	Schedule CronSchedule `json:"schedule"`

	v1.JobSettings `json:",inline"`
}

// CronSchedule has the parts of a schedule. A part that is absent is a star.
type CronSchedule struct {
	// +optional
	Minute *CronField `json:"minute,omitempty"`
	// +optional
	Hour *CronField `json:"hour,omitempty"`
	// +optional
	DayOfMonth *CronField `json:"dayOfMonth,omitempty"`
	// +optional
	Month *CronField `json:"month,omitempty"`
	// +optional
	DayOfWeek *CronField `json:"dayOfWeek,omitempty"`
}

// CronField is a part of a schedule.
type CronField string

// CronJob runs jobs by a schedule.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CronJobSpec      `json:"spec"`
	Status v1.CronJobStatus `json:"status,omitempty"`
}

// DeepCopy returns a copy that shares nothing.
func (c *CronJob) DeepCopy() *CronJob {
	out, meta, settings := *c, &c.ObjectMeta, c.Spec.JobSettings
	meta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.JobSettings, out.Status = settings.Copied(), c.Status.Copied()
	for _, field := range out.Spec.Schedule.fields() {
		*field = v1.CopyOf(*field)
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (c *CronJob) DeepCopyObject() runtime.Object { return c.DeepCopy() }
