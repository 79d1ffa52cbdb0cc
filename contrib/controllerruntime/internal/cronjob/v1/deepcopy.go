package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy returns a copy that shares nothing.
func (c *CronJob) DeepCopy() *CronJob {
	out, meta, settings := *c, &c.ObjectMeta, c.Spec.JobSettings
	meta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.JobSettings, out.Status = settings.Copied(), c.Status.Copied()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (c *CronJob) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// Copied returns a copy that shares nothing.
func (s JobSettings) Copied() JobSettings {
	s.StartingDeadlineSeconds, s.Suspend = CopyOf(s.StartingDeadlineSeconds), CopyOf(s.Suspend)
	s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = CopyOf(s.SuccessfulJobsHistoryLimit), CopyOf(s.FailedJobsHistoryLimit)
	s.JobTemplate = *s.JobTemplate.DeepCopy()
	return s
}

// Copied returns a copy that shares nothing.
func (s CronJobStatus) Copied() CronJobStatus {
	s.Active, s.LastScheduleTime, s.Conditions = slices.Clone(s.Active), s.LastScheduleTime.DeepCopy(), slices.Clone(s.Conditions)
	return s
}

// CopyOf returns a pointer to a copy of a value, nil for nil.
func CopyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
