package chart_test

import (
	"flag"
	"io"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/selfmanaged"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/crdconvert/webhookd/test/chart"
)

// certs ensure accepts the arguments of the Jobs of tls.mode selfManaged, up to the limits of the
// chart.
func TestPolicyOfTheCertificatesIsAccepted(t *testing.T) {
	t.Parallel()
	all := map[string]map[string]any{
		"shortest":    values(t, "tls: {mode: selfManaged, selfManaged: {leafValidity: 6h, caValidity: 24h, schedule: '17 * * * *'}}"),
		"odd":         values(t, "tls: {mode: selfManaged, selfManaged: {leafValidity: 6h0m1s, caValidity: 24h0m4s, schedule: '*/30 0-23 * * *'}}"),
		"of one year": values(t, "tls: {mode: selfManaged, selfManaged: {leafValidity: 8760h}}"),
	}
	for name, v := range ciFiles(t) {
		if mode, _ := chart.Get(v, []string{"tls", "mode"}); mode == "selfManaged" {
			all[name] = v
		}
	}
	for name, v := range all {
		jobs := 0
		for _, document := range render(t, v, nil).Documents() {
			var spec batchv1.JobSpec
			switch o := decode(t, document).(type) {
			case *batchv1.Job:
				spec = o.Spec
			case *batchv1.CronJob:
				spec = o.Spec.JobTemplate.Spec
			}
			if len(spec.Template.Spec.Containers) == 0 || spec.Template.Spec.Containers[0].Args[0] != "certs" {
				continue
			}
			jobs++
			policy := policyOf(t, spec.Template.Spec.Containers[0].Args[2:])
			if err := policy.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if third := policy.LeafValidity / 3; policy.RenewBefore > third || policy.RenewBefore < third-time.Second {
				t.Errorf("%s: a leaf of %s is renewed when %s are left", name, policy.LeafValidity, policy.RenewBefore)
			}
		}
		if jobs != 2 {
			t.Errorf("%s: %d Jobs for certificates, want a first one and a recurring one", name, jobs)
		}
	}
}

// policyOf reads the arguments of certs ensure.
func policyOf(t *testing.T, args []string) *selfmanaged.Policy {
	t.Helper()
	policy := &selfmanaged.Policy{StepDelay: selfmanaged.DefaultStepDelay}
	flags := flag.NewFlagSet("certs ensure", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&policy.CAValidity, "ca-validity", 0, "")
	flags.DurationVar(&policy.LeafValidity, "leaf-validity", 0, "")
	flags.DurationVar(&policy.RenewBefore, "renew-before", 0, "")
	for _, other := range []string{"secret", "service", "crd"} {
		flags.String(other, "", "")
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return policy
}
