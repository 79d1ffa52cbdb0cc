package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// Values that cannot work together fail the rendering, with a line that says why and what to do.
func TestImpossibleCombinations(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, values, want string }{
		{
			"another name", "{fullnameOverride: other, metrics: {service: {enabled: true}}}",
			"- the Service webhookd of this release would be replaced by other, and objects of the CRDs that name the old Service could not be read. Keep the name with fullnameOverride=webhookd; or, if no CRD names the Service, delete it first.",
		},
		{
			"rules that a CRD still needs", strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org"),
			"- rules convert gadgets.example.org no longer, but this CRD still sends its conversions here: its objects could not be read, or could not be applied. Keep the rules until the CRD has one version or points elsewhere; docs/how-to/wire-a-crd.md has the commands. If a converter in Go handles it, name it in crdWiring.crds.",
		},
		{
			"rules without a schema", "rules: {a: '{kind: Conversion, metadata: {name: gadgets.example.org}}'}",
			"- rules convert gadgets.example.org, but the schema of that CRD is missing: set it with --set-file crds.NAME=crd.yaml, in the same file as the rules, or in a ConfigMap that crdsFrom names. (helm install and upgrade read it from the cluster if it is there; helm template cannot.)",
		},
		{
			"rules without a Conversion", "rules: {a: '{kind: CustomResourceDefinition, metadata: {name: gadgets.example.org}}'}",
			"- rules contain no Conversion, so no replica would become ready: set one with --set-file rules.NAME=rules.yaml, or remove rules.",
		},
		{
			"rulesFrom without CRDs", "rulesFrom: [{name: a}]",
			"- rulesFrom is set without crds or crdsFrom: rules need the schemas of the CRDs that they convert.",
		},
		{
			"CRDs without rules", "crdsFrom: [{name: a}]",
			"- crds are set without rules: set rules or rulesFrom, or remove the CRDs.",
		},
		{
			"too large", "{rulesFrom: [{name: a}], crdsFrom: [{name: b}], rules: {a: '#" + strings.Repeat("x", 1_000_000) + "'}}",
			"- rules have 1000007 bytes, but a ConfigMap holds 1 MiB at most: put the files into ConfigMaps of your own, and name those in rulesFrom.",
		},
		{
			"a request above the default limit", "resources: {requests: {memory: 1Gi}}",
			"- resources.requests.memory is 1Gi, above resources.limits.memory, 256Mi: the API server refuses such a pod. Set both.",
		},
		{
			"a limit below the default request", "resources: {limits: {memory: 20Mi}}",
			"- resources.requests.memory is 256Mi, above resources.limits.memory, 20Mi: the API server refuses such a pod. Set both.",
		},
		{
			"a limit of CPU below the request", "resources: {limits: {cpu: 0.05}}",
			"- resources.requests.cpu is 100m, above resources.limits.cpu, 0.05: the API server refuses such a pod. Set both.",
		},
		{
			"a limit of the Jobs below the request", "jobs: {resources: {limits: {memory: 32M}}}",
			"- jobs.resources.requests.memory is 64Mi, above jobs.resources.limits.memory, 32M: the API server refuses such a pod. Set both.",
		},
		{
			"no Secret", "tls: {mode: existingSecret}",
			"- tls.mode is existingSecret, but tls.existingSecret does not name the Secret.",
		},
		{
			"Secret of another mode", "tls: {existingSecret: a}",
			"- tls.existingSecret is set, but tls.mode is helm: set tls.mode=existingSecret, or remove the name.",
		},
		{
			"issuer of another mode", "tls: {certManager: {issuerRef: {name: a}}}",
			"- tls.certManager.issuerRef is set, but tls.mode is helm: set tls.mode=certManager, or remove the issuer.",
		},
		{
			"leaf renewed without end", "tls: {mode: certManager, certManager: {duration: 100h, renewBefore: 100h}}",
			"- tls.certManager.renewBefore is not below tls.certManager.duration: the certificate would be renewed forever.",
		},
		{
			"leaf outlives the CA", "tls: {mode: certManager, certManager: {ca: {renewBefore: 1000h}}}",
			"- tls.certManager.ca.renewBefore is not above tls.certManager.duration: a leaf could outlive the CA in the CRDs' caBundle.",
		},
		{
			"CA renewed without end", "tls: {mode: certManager, certManager: {ca: {duration: 8760h}}}",
			"- tls.certManager.ca.renewBefore is not below tls.certManager.ca.duration: the CA would be renewed forever.",
		},
		{
			"leaf of helm outlives the CA", "tls: {helm: {caValidityDays: 10, leafValidityDays: 11}}",
			"- tls.helm.leafValidityDays is above tls.helm.caValidityDays: a leaf cannot outlive its CA.",
		},
		{
			"leaf of selfManaged outlives the CA", "tls: {mode: selfManaged, selfManaged: {caValidity: 2879h59m, leafValidity: 720h}}",
			"- tls.selfManaged.caValidity is less than four times tls.selfManaged.leafValidity: a leaf must not outlive its CA, not even while a new CA is introduced.",
		},
		{
			"leaf of selfManaged of a few hours", "tls: {mode: selfManaged, selfManaged: {leafValidity: 5h59m, schedule: '*/30 * * * *'}}",
			"- tls.selfManaged.leafValidity is below 6h: a leaf is renewed when a third of its life is left, and a new CA takes two steps of an hour each to reach all clients.",
		},
		{
			"a Job that comes once a day for a leaf of a day", "tls: {mode: selfManaged, selfManaged: {leafValidity: 24h, schedule: 17 3 * * *}}",
			"- tls.selfManaged.schedule is 17 3 * * *, every 24h, but a leaf of 24h is renewed only in its last third: run the Job several times in that third, or make leaves valid for longer.",
		},
		{
			"a Job that comes once a month", `tls: {mode: selfManaged, selfManaged: {schedule: "@monthly", leafValidity: 2160h}}`,
			"- tls.selfManaged.schedule is @monthly, every 744h, but a leaf of 2160h is renewed only in its last third: run the Job several times in that third, or make leaves valid for longer.",
		},
		{
			"a Job that comes once a week", "tls: {mode: selfManaged, selfManaged: {schedule: 0 4 * * MON, leafValidity: 500h}}",
			"- tls.selfManaged.schedule is 0 4 * * MON, every 168h, but a leaf of 500h is renewed only in its last third: run the Job several times in that third, or make leaves valid for longer.",
		},
		{
			"a CA that is made here", "tls: {caBundle: '-----BEGIN CERTIFICATE-----'}",
			"- tls.caBundle is set, but with tls.mode helm the release creates its own CA: remove it.",
		},
		{
			"a path in place of the CA", "tls: {mode: existingSecret, existingSecret: a, caBundle: ca.crt}",
			"- tls.caBundle contains no PEM certificate: set it from the file with --set-file tls.caBundle=ca.crt.",
		},
		{
			"nothing to wire", "crdWiring: {mode: job}",
			"- crdWiring.mode is job, but crdWiring.crds names no CRD and no rules do either: name them in crdWiring.crds.",
		},
		{
			"annotate without cert-manager", "crdWiring: {mode: annotate, crds: [gadgets.example.org]}",
			"- crdWiring.mode is annotate, but tls.mode is helm: cert-manager injects only the CA of its own certificates, or of a Secret that allows it (tls.mode certManager or existingSecret).",
		},
		{
			"kube-apiserver turned away", "{crdWiring: {mode: job, crds: [gadgets.example.org]}, config: {client-ca-file: /ca}}",
			"- crdWiring.mode is job, but config.client-ca-file refuses clients without a certificate, such as kube-apiserver: point the CRDs at the proxy in front.",
		},
		{
			"nothing to guard", "keptValues: {guard: restore}",
			"- keptValues.guard is restore and keptValues.gate is false, but the values name no CRD: name CRDs in crdWiring.crds, or set them with --set-file keptValues.crds.NAME=crd.yaml.",
		},
		{
			"an unknown CRD", "{keptValues: {gate: true}, crdWiring: {crds: [gadgets.example.org]}}",
			"- keptValues has a policy for gadgets.example.org, but that CRD is missing: set it with --set-file keptValues.crds.NAME=crd.yaml. (helm install and upgrade read it from the cluster if it is there; helm template cannot.)",
		},
		{
			"CRDs without a policy", "keptValues: {crds: {a: 'kind: CustomResourceDefinition'}}",
			"- keptValues.crds is set, but no policy uses it: set keptValues.guard or keptValues.gate, or remove the CRDs.",
		},
		{
			"a group without a guard", "keptValues: {allowGroup: backup}",
			"- keptValues.allowGroup is set, but keptValues.guard is none, so anyone may change kept values: set keptValues.guard, or remove the group.",
		},
		{
			"no spec.conversion to guard", "conversionGuard: {mode: restore}",
			"- conversionGuard.mode is restore, but the values name no CRD: name CRDs in crdWiring.crds.",
		},
		{
			"a group without a guard of spec.conversion", "conversionGuard: {allowGroup: backup}",
			"- conversionGuard.allowGroup is set, but conversionGuard.mode is none, so anyone who may change CRDs may change spec.conversion: set conversionGuard.mode, or remove the group.",
		},
		{"one port", "ports: {webhook: 8080}", "- ports.webhook and ports.admin are the same: 8080."},
		{
			"killed while draining", "{config: {drain-delay: 1m, shutdown-timeout: 1m30s}, lifecycle: {preStop: {sleep: {seconds: 5}}}, terminationGracePeriodSeconds: 155}",
			"- terminationGracePeriodSeconds is 155, but must be above 155: the sum of config.drain-delay, config.shutdown-timeout and the sleep of lifecycle.preStop.",
		},
		{
			"two budgets", "podDisruptionBudget: {minAvailable: 1}",
			`- podDisruptionBudget has both minAvailable and maxUnavailable: set one of them to "".`,
		},
		{
			"no drain", `podDisruptionBudget: {minAvailable: 2, maxUnavailable: ""}`,
			"- podDisruptionBudget.minAvailable is 2 of 2 replicas: no node could be drained.",
		},
		{
			"no drain of one replica", `{replicaCount: 1, podDisruptionBudget: {minAvailable: 10%, maxUnavailable: ""}}`,
			"- podDisruptionBudget.minAvailable is 10% of 1 replicas: no node could be drained.",
		},
		{
			"no drain of a hundred percent", `podDisruptionBudget: {minAvailable: 100%, maxUnavailable: ""}`,
			"- podDisruptionBudget.minAvailable is 100% of 2 replicas: no node could be drained.",
		},
		{
			"none may go", `podDisruptionBudget: {maxUnavailable: 0}`,
			"- podDisruptionBudget.maxUnavailable is 0, and minAvailable is not set: no node could be drained. Set one of them, or enabled to false.",
		},
		{
			"no percent may go", `podDisruptionBudget: {maxUnavailable: 0%}`,
			"- podDisruptionBudget.maxUnavailable is 0%, and minAvailable is not set: no node could be drained. Set one of them, or enabled to false.",
		},
		{
			"an empty budget", `podDisruptionBudget: {maxUnavailable: ""}`,
			"- podDisruptionBudget.maxUnavailable is empty, and minAvailable is not set: no node could be drained. Set one of them, or enabled to false.",
		},
		{
			"replicas upside down", "autoscaling: {enabled: true, minReplicas: 7}",
			"- autoscaling.minReplicas is above autoscaling.maxReplicas.",
		},
		{
			"no target", "autoscaling: {enabled: true, targetCPUUtilizationPercentage: 0}",
			"- autoscaling is enabled without a target: set autoscaling.targetCPUUtilizationPercentage.",
		},
		{
			"a target of nothing", "{autoscaling: {enabled: true}, resources: {requests: {cpu: null}}}",
			"- autoscaling has a target for cpu, but resources.requests.cpu is not set: the target is a percentage of it.",
		},
		{
			"no policy for pods of the host", "{hostNetwork: true, networkPolicy: {ingress: {enabled: true, cidrs: [10.0.0.0/8]}}}",
			"- networkPolicy.ingress and hostNetwork are both enabled: NetworkPolicies do not apply to pods in the host network.",
		},
		{
			"kube-apiserver shut out", "networkPolicy: {ingress: {enabled: true}}",
			"- networkPolicy.ingress is enabled without networkPolicy.ingress.cidrs: kube-apiserver would be shut out. Only the flavor cilium finds its addresses by itself.",
		},
		{
			"addresses that Cilium does not apply", "networkPolicy: {ingress: {enabled: true, flavor: cilium, cidrs: [10.0.0.0/8]}}",
			"- networkPolicy.ingress.cidrs is set with the flavor cilium, which ignores it for kube-apiserver: remove it, or use networkPolicy.ingress.from.",
		},
		{
			"scraped twice", "metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}",
			"- metrics.serviceMonitor and metrics.podMonitor are both enabled: every sample would be scraped twice.",
		},
	}
	said := make([]string, 0, len(tests))
	for _, tt := range tests {
		said = append(said, tt.want)
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var cluster *chart.Cluster
			switch tt.name {
			case "rules that a CRD still needs":
				cluster = chart.NewCluster(wired(t)...)
			case "another name":
				cluster = chart.NewCluster(services(t, "metrics: {service: {enabled: true}}")...)
			}
			if got := problemsIn(t, tt.values, cluster); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
	for _, text := range problemTexts(t) {
		if !slices.ContainsFunc(said, func(s string) bool { return text.MatchString(s) }) {
			t.Errorf("no case for %s", text)
		}
	}
}

// services returns the Services of a rendering as Helm installs them, those of another release, and
// one of another chart in this release.
func services(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, release := range []string{chart.ReleaseName, "another"} {
		for _, o := range objects(t, render(t, values(t, text), nil)) {
			metadata, _ := o["metadata"].(map[string]any)
			if o["kind"] != "Service" {
				continue
			}
			metadata["annotations"] = map[string]any{"meta.helm.sh/release-name": release}
			metadata["name"] = strings.Replace(at(t, o, "metadata", "name"), chart.ReleaseName, release, 1)
			all = append(all, o)
		}
	}
	return append(all, map[string]any{
		"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"selector": map[string]any{"app.kubernetes.io/component": "server"}},
		"metadata": map[string]any{
			"name": "another-chart", "namespace": chart.Namespace, "labels": map[string]any{"helm.sh/chart": "another-1.0.0"},
			"annotations": map[string]any{"meta.helm.sh/release-name": chart.ReleaseName},
		},
	})
}

// The chart accepts an existing Service of the same name, and Services of others.
func TestServicesOfOthersDoNotMatter(t *testing.T) {
	t.Parallel()
	if _, err := chart.Render(nil, chart.NewCluster(services(t, "metrics: {service: {enabled: true}}")...)); err != nil {
		t.Error(err)
	}
}

// wired returns the objects of a cluster in which a CRD with rules points at the release.
func wired(t *testing.T) []map[string]any {
	t.Helper()
	r := render(t, values(t, crdAndRules), nil)
	var crd map[string]any
	for _, text := range values(t, crdAndRules)["crds"].(map[string]any) { //nolint:forcetypeassert // see there
		crd = values(t, text.(string)) //nolint:forcetypeassert // see there
	}
	crd["spec"].(map[string]any)["conversion"] = map[string]any{ //nolint:forcetypeassert // see there
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": map[string]any{"service": map[string]any{"namespace": chart.Namespace, "name": chart.ReleaseName}}},
	}
	return []map[string]any{crd, object(t, r, "ConfigMap", "webhookd-rules")}
}

// Rules that no CRD needs may be removed.
func TestUnneededRulesMayBeRemoved(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org")
	for name, change := range map[string]func(spec map[string]any){
		"it points elsewhere": func(spec map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} },
		"it has one version":  func(spec map[string]any) { spec["versions"] = spec["versions"].([]any)[1:] }, //nolint:forcetypeassert // see crdAndRules
	} {
		all := wired(t)
		change(all[0]["spec"].(map[string]any)) //nolint:forcetypeassert // that of a CRD
		if _, err := chart.Render(values(t, other), chart.NewCluster(all...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := chart.Render(values(t, other), chart.NewCluster(wired(t)[1])); err != nil {
		t.Errorf("the CRD is gone: %v", err)
	}
	if _, err := chart.Render(values(t, other+"crdWiring: {crds: [gadgets.example.org]}\n"), chart.NewCluster(wired(t)...)); err != nil {
		t.Errorf("it may have a converter in Go: %v", err)
	}
	if _, err := chart.Render(values(t, other+"rulesFrom: [{name: a}]\n"), chart.NewCluster(wired(t)...)); err != nil {
		t.Errorf("they may be in a ConfigMap of the user: %v", err)
	}
}

// Rules of a version that is neither served nor stored are still needed: managedFields may name it,
// and apply then converts to it.
func TestRulesOfAnUnservedVersionAreNeeded(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org")
	all := wired(t)
	spec := all[0]["spec"].(map[string]any)                        //nolint:forcetypeassert // that of a CRD
	spec["versions"].([]any)[0].(map[string]any)["served"] = false //nolint:forcetypeassert // see crdAndRules
	if got := problemsIn(t, other, chart.NewCluster(all...)); len(got) != 1 || !strings.HasPrefix(got[0], "- rules convert gadgets.example.org no longer") {
		t.Errorf("problems:\n%s", strings.Join(got, "\n"))
	}
}

func problems(t *testing.T, text string) []string {
	t.Helper()
	return problemsIn(t, text, nil)
}

// problemsIn returns the problems that fail the rendering.
func problemsIn(t *testing.T, text string, cluster *chart.Cluster) []string {
	t.Helper()
	_, err := chart.Render(values(t, text), cluster)
	if err == nil {
		t.Fatal("it renders")
	}
	_, list, found := strings.Cut(err.Error(), "these values cannot work:\n\n")
	if !found {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(list, "\n"), func(line string) bool { return line == "" })
}

// problemTexts returns a pattern for each problem that the templates may report.
func problemTexts(t *testing.T) []*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart.Dir, "templates", "_problems.tpl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*regexp.Regexp
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		pattern := regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}|\{\{.*?\}\}`).ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), ".*")
		all = append(all, regexp.MustCompile("^"+pattern+"$"))
	}
	return all
}

// The chart reports all problems at once.
func TestAllProblemsAreReported(t *testing.T) {
	t.Parallel()
	got := problems(t, "{tls: {mode: existingSecret}, ports: {admin: 9443}, crdsFrom: [{name: a}]}")
	if len(got) != 3 {
		t.Errorf("problems: %q", got)
	}
}

// The error for a file that is not YAML names the file.
func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rules.a cannot be read: ":     "rules: {a: 'kind: [Conversion'}",
		"crds: b.yaml cannot be read:": "{rules: {a: 'kind: Conversion'}, crds: {b: '- not an object'}}",
	} {
		if _, err := chart.Render(values(t, text), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
