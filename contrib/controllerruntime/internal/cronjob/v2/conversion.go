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
	to.Spec.JobSettings, to.Status = c.Spec.JobSettings, c.Status
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
	c.Spec.JobSettings, c.Status = from.Spec.JobSettings, from.Status
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
