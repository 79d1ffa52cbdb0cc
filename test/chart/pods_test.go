package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/crdconvert/webhookd/test/chart"
)

// A pod is a pod template, with the object that has it.
type pod struct {
	of string
	corev1.PodTemplateSpec
}

// pods returns the pods of a rendering.
func pods(t *testing.T, r chart.Rendering) []pod {
	t.Helper()
	var all []pod
	for _, document := range r.Documents() {
		switch o := decode(t, document).(type) {
		case *appsv1.Deployment:
			all = append(all, pod{"server", o.Spec.Template})
		case *batchv1.Job:
			all = append(all, pod{o.Name, o.Spec.Template})
		case *batchv1.CronJob:
			all = append(all, pod{o.Name, o.Spec.JobTemplate.Spec.Template})
		}
	}
	return all
}

// Pod Security "restricted" accepts all pods, except those in the host network.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for name, v := range ciFiles(t) {
		for _, p := range pods(t, render(t, v, nil)) {
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &p.ObjectMeta, &p.Spec))
			if p.Spec.HostNetwork {
				if want := "host namespaces, hostPort"; result.ForbiddenReason() != want && result.ForbiddenReason() != "host namespaces" {
					t.Errorf("%s: %s: %s, want %s", name, p.of, result.ForbiddenDetail(), want)
				}
				continue
			}
			if !result.Allowed {
				t.Errorf("%s: %s: %s", name, p.of, result.ForbiddenDetail())
			}
		}
	}
}

// Pods are hardened beyond what Pod Security requires.
func TestPodsAreHardened(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		for _, p := range pods(t, render(t, v, nil)) {
			for _, problem := range slices.Concat(hardening(p), mounts(p)) {
				t.Errorf("%s: %s: %s", name, p.of, problem)
			}
		}
	}
}

func hardening(p pod) []string {
	var problems []string
	say := func(bad bool, text string) {
		if bad {
			problems = append(problems, text)
		}
	}
	c := p.Spec.Containers[0]
	token := p.Spec.AutomountServiceAccountToken
	say(token == nil || p.of == "server" && *token, "has a token")
	say(p.Spec.EnableServiceLinks == nil || *p.Spec.EnableServiceLinks, "has the addresses of all Services in its environment")
	say(c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem, "can write to its root")
	say(p.Spec.SecurityContext.RunAsUser == nil, "has no user by number")
	say(c.Resources.Limits.Memory().IsZero() || !c.Resources.Limits.Memory().Equal(*c.Resources.Requests.Memory()), "memory is not what is requested")
	say(p.of == "server" && (c.StartupProbe == nil || c.ReadinessProbe == nil || c.LivenessProbe == nil), "has no probe")
	say(p.of == "server" && (asks(c.StartupProbe) != "/livez" || asks(c.LivenessProbe) != "/livez"), "is restarted for what a restart cannot fix")
	say(p.of == "server" && asks(c.ReadinessProbe) != "/readyz", "gets reviews that it cannot answer")
	return problems
}

// asks returns the path that a probe requests.
func asks(p *corev1.Probe) string {
	if p == nil || p.HTTPGet == nil {
		return ""
	}
	return p.HTTPGet.Path
}

// mounts returns the problems of volumes: an unused or missing volume, a subPath, which would never
// change, or keys of a Secret that the pod does not need.
func mounts(p pod) []string {
	var problems []string
	mounted := map[string]bool{}
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		mounted[m.Name] = true
		if m.SubPath != "" || !m.ReadOnly {
			problems = append(problems, fmt.Sprintf("%s is a subPath or can be written", m.Name))
		}
		if !slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			problems = append(problems, "no volume "+m.Name)
		}
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if !mounted[v.Name] {
			problems = append(problems, "not mounted: "+v.Name)
		}
		if v.Secret == nil {
			continue
		}
		var keys []string
		for _, item := range v.Secret.Items {
			keys = append(keys, item.Key)
		}
		want := []string{"ca.crt"}
		if p.of == "server" {
			want = []string{"tls.crt", "tls.key"}
		}
		if !slices.Equal(keys, want) {
			problems = append(problems, fmt.Sprintf("has %v of the Secret, want %v", keys, want))
		}
	}
	return problems
}

// The Service and the budgets select the server's pods, and no pod of a Job.
func TestSelectorsAreOfServersOnly(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		r := render(t, v, nil)
		for _, document := range r.Documents() {
			var selector map[string]string
			switch o := decode(t, document).(type) {
			case *corev1.Service:
				selector = o.Spec.Selector
			case *appsv1.Deployment:
				selector = o.Spec.Selector.MatchLabels
			default:
				continue
			}
			for _, p := range pods(t, r) {
				selects := true
				for label, value := range selector {
					selects = selects && p.Labels[label] == value
				}
				if selects != (p.of == "server") {
					t.Errorf("%s: the selector %v and the pod of %s", name, selector, p.of)
				}
			}
		}
	}
}

// The server has no rights. Only the Jobs of two modes have rights, on the named Secrets, CRDs
// and XRDs.
func TestRights(t *testing.T) {
	t.Parallel()
	const own = "webhookd"
	want := map[string][]string{
		"tls-self-managed": {
			`webhookd-certs: "" secrets [webhookd-self-managed webhookd-self-managed-ca] [get patch]`,
			`conversion-webhookd-certs: "apiextensions.k8s.io" customresourcedefinitions [gadgets.example.org] [get patch]`,
			`conversion-webhookd-crd-wiring: "apiextensions.k8s.io" customresourcedefinitions [gadgets.example.org] [get patch]`,
		},
		"conversion-guard": {
			`webhookd-certs: "" secrets [webhookd-self-managed webhookd-self-managed-ca] [get patch]`,
			`conversion-webhookd-certs: "apiextensions.k8s.io" customresourcedefinitions [xgadgets.example.org gadgets.example.org sockets.example.org] [get patch]`,
			`conversion-webhookd-certs: "apiextensions.crossplane.io" compositeresourcedefinitions [xgadgets.example.org xsockets.example.org] [get patch]`,
			`conversion-webhookd-crd-wiring: "apiextensions.k8s.io" customresourcedefinitions [xgadgets.example.org gadgets.example.org sockets.example.org] [get patch]`,
			`conversion-webhookd-crd-wiring: "apiextensions.crossplane.io" compositeresourcedefinitions [xgadgets.example.org xsockets.example.org] [get patch]`,
		},
		"crd-job": {
			`conversion-webhookd-crd-wiring: "apiextensions.k8s.io" customresourcedefinitions [gadgets.example.org widgets.example.org] [get patch]`,
		},
	}
	for name, v := range ciFiles(t) {
		got := make([]string, 0, len(want[name]))
		for _, document := range render(t, v, nil).Documents() {
			got = append(got, rights(t, document)...)
			for _, subject := range subjects(t, document) {
				if subject == own {
					t.Errorf("%s: rights for the account of the server", name)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want[name])
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: rights:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(want[name], "\n"))
		}
	}
}

// With a HorizontalPodAutoscaler an upgrade keeps the number of replicas. It would be one for a
// while if the upgrade removed the field.
func TestAutoscalingKeepsTheReplicas(t *testing.T) {
	t.Parallel()
	v := values(t, "autoscaling: {enabled: true}")
	live := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": chart.ReleaseName, "namespace": chart.Namespace}, "spec": map[string]any{"replicas": int64(4)},
	}
	for name, tt := range map[string]struct {
		cluster *chart.Cluster
		want    any
	}{
		"an upgrade": {chart.NewCluster(live), float64(4)},
		"the first":  {chart.NewCluster(), nil},
		"no cluster": {nil, nil},
	} {
		if got, _ := chart.Get(object(t, render(t, v, tt.cluster), "Deployment", chart.ReleaseName), []string{"spec", "replicas"}); got != tt.want {
			t.Errorf("%s: %v replicas, want %v", name, got, tt.want)
		}
	}
}
