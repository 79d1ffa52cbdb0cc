package v2

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v1"
)

// ConvertTo converts to the hub.
func (c *CronJob) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1.CronJob) //nolint:forcetypeassert // the only hub of the scheme
	to.ObjectMeta = c.ObjectMeta
	to.Spec = v1.CronJobSpec{
		StartingDeadlineSeconds:    c.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          v1.ConcurrencyPolicy(c.Spec.ConcurrencyPolicy),
		Suspend:                    c.Spec.Suspend,
		JobTemplate:                c.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: c.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     c.Spec.FailedJobsHistoryLimit,
	}
	to.Status = v1.CronJobStatus(c.Status)

	parts := make([]string, 0, 5)
	for _, field := range c.Spec.Schedule.fields() {
		part := "*"
		if *field != nil {
			part = string(**field)
		}
		parts = append(parts, part)
	}
	to.Spec.Schedule = strings.Join(parts, " ")
	return nil
}

// ConvertFrom converts from the hub. A schedule without five parts becomes none.
func (c *CronJob) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.CronJob) //nolint:forcetypeassert // the only hub of the scheme
	c.ObjectMeta = from.ObjectMeta
	c.Spec = CronJobSpec{
		StartingDeadlineSeconds:    from.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          ConcurrencyPolicy(from.Spec.ConcurrencyPolicy),
		Suspend:                    from.Spec.Suspend,
		JobTemplate:                from.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: from.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     from.Spec.FailedJobsHistoryLimit,
	}
	c.Status = CronJobStatus(from.Status)

	parts := strings.Split(from.Spec.Schedule, " ")
	if len(parts) != 5 {
		return nil
	}
	for i, field := range c.Spec.Schedule.fields() {
		if parts[i] != "*" {
			*field = new(CronField(parts[i]))
		}
	}
	return nil
}

// fields are the parts in the order of cron(5).
func (s *CronSchedule) fields() []**CronField {
	return []**CronField{&s.Minute, &s.Hour, &s.DayOfMonth, &s.Month, &s.DayOfWeek}
}
