package controlplane_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

const labelOfHelm = "app.kubernetes.io/name=webhookd"

// A chartMode is a way to install the chart. What it installs is run by a node.
type chartMode struct {
	name   string
	values []string
	// more are values in a file, and what the pods that serve have of them; they may be empty.
	more    string
	pod     string
	release string // namespace of the release, if it is not that of the objects
	kept    string // what the API server does with a request that adds a kept value: see keptValues.guard; empty is the default
	wiring  string // and with an update that drops spec.conversion, see conversionGuard
	jobs    bool   // Jobs point the CRD at webhookd, and keep it from being left behind; otherwise one follows the notes

	// prepare makes what is there before; it may be nil, and so may rotate.
	prepare func(t *testing.T, i *installation)
	// rotate replaces the CA.
	rotate func(t *testing.T, i *installation)
}

func chartModes(t *testing.T) []chartMode {
	t.Helper()
	authority := newAuthority(t)
	return []chartMode{
		{
			name: "helm", values: []string{"tls.mode=helm", "namespaceOverride=chart-helm"}, release: "releases", more: podValues,
			pod: "webhookd=mirror.example.com/webhookd/webhookd:v0 log=busybox secrets=[shared own] dns=[2] class=system-cluster-critical label=a",
		},
		{
			name: "helm-job", values: []string{"tls.mode=helm", "crdWiring.mode=job", "keptValues.guard=restore", "keptValues.gate=true", "conversionGuard.mode=restore"}, jobs: true,
			kept: "restore", wiring: "restore",
		},
		{
			name: "self-managed", values: []string{"tls.mode=selfManaged", "crdWiring.mode=job", "conversionGuard.mode=validate"}, jobs: true, rotate: rotateSelfManaged,
			wiring: "validate",
		},
		{
			name: "existing-secret", values: []string{"tls.mode=existingSecret", "tls.existingSecret=mine", "crdWiring.mode=job", "keptValues.guard=none"}, jobs: true,
			kept: "none",
			prepare: func(t *testing.T, i *installation) {
				t.Helper()
				i.putPair(t, "mine", nil, newAuthority(t))
			},
		},
		{
			name: "existing-secret-annotate", values: []string{"tls.mode=existingSecret", "tls.existingSecret=mine", "crdWiring.mode=annotate", "conversionGuard.mode=validate"}, wiring: "validate",
			prepare: func(t *testing.T, i *installation) {
				t.Helper()
				i.putPair(t, "mine", map[string]string{"cert-manager.io/allow-direct-injection": "true"}, newAuthority(t))
			},
		},
		{
			name: "cert-manager", values: []string{"tls.mode=certManager", "crdWiring.mode=annotate", "conversionGuard.mode=restore"}, wiring: "restore",
			prepare: func(t *testing.T, i *installation) { t.Helper(); i.issue(t, authority) },
			rotate:  func(t *testing.T, i *installation) { t.Helper(); rotateCertManager(t, i, authority) },
		},
	}
}

// podValues are values of the pods that have nothing to do with how it is installed.
const podValues = `
global: {imageRegistry: mirror.example.com, imagePullSecrets: [{name: shared}]}
image: {repository: webhookd/webhookd, tag: v0}
imagePullSecrets: [{name: own}]
priorityClassName: system-cluster-critical
podLabels: {team: a}
dnsConfig: {options: [{name: ndots, value: "2"}]}
extraContainers:
- name: log
  image: busybox
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
extraObjects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: "{{ .Values.namespaceOverride }}"}}
metrics: {dashboard: {enabled: true}, service: {enabled: true}}
`

// charts installs the chart in each mode, as a user does, with its Jobs and its server running as
// processes with the rights that the chart gives them and with cert-manager's own injector; reads
// objects at both versions; changes the rules; replaces the CA; upgrades, rolls back, and
// uninstalls.
func charts(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	makeCertManagerKinds(t, p)
	p.StartCAInjector(t)
	t.Run("modes", func(t *testing.T) {
		for _, m := range chartModes(t) {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				m.run(t, p)
			})
		}
	})
}

func (m chartMode) run(t *testing.T, p *plane.Plane) {
	t.Helper()
	i := newInstallation(t, p, m)
	i.makeCRD(t)
	if m.prepare != nil {
		m.prepare(t, i)
	}
	p.StartNode(t, i.namespace, webhook.Build(t))
	i.helm(t, "install")
	i.followNotes(t)
	i.wantCronTab(t, "first", "localhost:80", "localhost 80")
	i.guards(t)
	i.wiringGuard(t)
	i.podHas(t, m.pod)

	before := i.pods(t)
	i.files["rules"] = i.rules("/")
	i.helm(t, "upgrade")
	scenario.Eventually(t, "the new rules", func() bool {
		return i.readCronTab(t, "second", "localhost/80") == "localhost 80"
	})
	if after := i.pods(t); after != before {
		t.Errorf("a change of the rules changed the pods:\n%s%s", before, after)
	}
	i.run(t, "rollback", "webhookd", "1", "--wait", "--timeout=90s")
	i.wantCronTab(t, "third", "localhost:81", "localhost 81")
	if m.rotate != nil {
		m.rotate(t, i)
	}
	i.uninstall(t)
}

// uninstall holds that the chart does not go while the CRD points at it, where a Job looks after
// that: helm says so, and what docs/how-to/wire-a-crd.md says puts the release back.
func (i *installation) uninstall(t *testing.T) {
	t.Helper()
	if i.mode.jobs {
		_, page, _ := strings.Cut(readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "wire-a-crd.md")), "### If helm uninstall is refused")
		block := codeBlocks(page)
		refused, rollback := block["text"][0], block["sh"][0]
		out := i.client.Fails(t, i.ofRelease("uninstall", "webhookd")...)
		out = strings.NewReplacer(i.crd(), "crontabs.example.com", i.namespace+"/", "webhookd/").Replace(out)
		if refused != out {
			t.Errorf("the page has:\n%s\nhelm uninstall printed:\n%s", refused, out)
		}
		if out := i.client.Fails(t, i.ofRelease("upgrade", "webhookd", i.chart(t))...); !strings.Contains(out, "has no deployed releases") {
			t.Errorf("helm upgrade of what is uninstalling: %s", out)
		}
		history := strings.Split(strings.TrimSpace(i.client.Run(t, i.ofRelease("history", "webhookd")...)), "\n")
		last := strings.Fields(history[len(history)-1])[0]
		i.client.Shell(t, strings.NewReplacer(" 1 ", " "+last+" ", "-n webhookd", "-n "+i.release).Replace(rollback))
		i.helm(t, "upgrade")
	}
	i.kubectl.Run(t, "delete", "crd", i.crd())
	i.run(t, "uninstall", "webhookd", "--wait", "--timeout=60s")
	if left := i.policies(t); len(left) > 0 {
		t.Errorf("policies are left: %q", left)
	}
}

// policies are the names of the policies and bindings for the CRD.
func (i *installation) policies(t *testing.T) []string {
	t.Helper()
	all := i.kubectl.Run(t, "get", "-o", "name", "validatingadmissionpolicies,validatingadmissionpolicybindings,"+
		"mutatingadmissionpolicies,mutatingadmissionpolicybindings")
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(all), "\n"), func(name string) bool { return !strings.HasSuffix(name, "."+i.crd()) })
}

// guards holds that the policies of keptValues are in force, by default those that refuse: a user
// who may not write status neither forges it by an annotation, nor brings an old one back by what
// was exported before. Without a guard both succeed. What is deleted and restored has no status.
func (i *installation) guards(t *testing.T) {
	t.Helper()
	const name, key = "guarded", `status.conversion.webhookd.io/v1.status.v1Only`
	editor := newTeam(t, i.plane, i.namespace, "crontabs", i.group())
	client := editor.kubectl(t, editor.editor)
	of := func(version string) string { return "crontabs." + version + "." + i.group() }
	i.kubectl.Write(t, name+".yaml", "{apiVersion: "+i.group()+"/v1, kind: CronTab, metadata: {name: "+name+", namespace: "+i.namespace+"}, spec: {image: cron}}")
	i.kubectl.Run(t, "create", "-f", name+".yaml")
	report := func(text string) {
		t.Helper()
		i.kubectl.Run(t, i.args("patch", of("v1"), name, "--subresource=status", "--type=merge", "--patch", `{"status":{"v1Only":"`+text+`"}}`)...)
	}
	report("old")
	exported := object(t, client.Run(t, "get", of("v1beta1"), name, "-o", "yaml"))
	client.Write(t, "export.yaml", manifestOf(t, exported, exported.GetAnnotations()))
	report("new")
	if out := client.Fails(t, "patch", of("v1"), name, "--subresource=status", "--type=merge", "--patch", `{"status":{"v1Only":"forged"}}`); !strings.Contains(out, `resource "crontabs/status"`) {
		t.Errorf("the editor may write status: %s", out)
	}
	mode := cmp.Or(i.mode.kept, "validate")
	for command, status := range map[string]string{
		"annotate --overwrite " + of("v1beta1") + " " + name + " " + key + `={"value":"forged"}`: "forged",
		"apply --server-side --force-conflicts --field-manager=restore -f export.yaml":           "old",
	} {
		out, err := client.Try(t, strings.Fields(command)...)
		refused := err != nil && strings.Contains(out, "only webhookd changes these annotations")
		if refused != (mode == "validate") || !refused && err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		if mode != "none" {
			status = "new"
		}
		if got := i.kubectl.Run(t, i.args("get", of("v1"), name, "-o", "jsonpath={.status.v1Only}")...); got != status {
			t.Errorf("%s: the status is %s, want %s", command, got, status)
		}
		report("new")
	}
	i.kubectl.Run(t, i.args("delete", of("v1"), name)...)
	if out, err := client.Try(t, "create", "-f", "export.yaml"); (err != nil) != (mode == "validate") || err != nil && !strings.Contains(out, "only webhookd adds these annotations") {
		t.Errorf("restore what was deleted: %v\n%s", err, out)
	}
	if got := i.kubectl.Run(t, i.args("get", of("v1"), "-o", "jsonpath={.items[*].status}")...); got != "" {
		t.Errorf("what was restored has the status of another object: %s", got)
	}
	gated := slices.Contains(i.policies(t), "validatingadmissionpolicybinding.admissionregistration.k8s.io/webhookd-convertible-v1beta1."+i.crd())
	if want := slices.Contains(i.mode.values, "keptValues.gate=true"); gated != want {
		t.Errorf("a gate: %v, want %v: %q", gated, want, i.policies(t))
	}
}

// wiringGuard holds that an update which drops spec.conversion does what conversionGuard.mode says.
func (i *installation) wiringGuard(t *testing.T) {
	t.Helper()
	drop := func() (string, error) {
		return i.kubectl.Try(t, "patch", "crd", i.crd(), "--dry-run=server", "--type=merge", "-o", "jsonpath={.spec.conversion.strategy}",
			"--patch", `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	}
	switch i.mode.wiring {
	case "restore":
		scenario.Eventually(t, "spec.conversion to be put back", func() bool { out, err := drop(); return err == nil && out == "Webhook" })
	case "validate":
		scenario.Eventually(t, "the update to be refused", func() bool {
			out, err := drop()
			return err != nil && strings.Contains(out, "drops spec.conversion while more than one version is in use")
		})
	default:
		if out, err := drop(); err != nil || out != "None" {
			t.Errorf("without a guard: %v\n%s", err, out)
		}
	}
}

// podHas holds that the API server has admitted a pod that serves with these values.
func (i *installation) podHas(t *testing.T, want string) {
	t.Helper()
	if want == "" {
		return
	}
	const values = `jsonpath={.items[0].spec.containers[0].name}={.items[0].spec.containers[0].image} ` +
		`{.items[0].spec.containers[1].name}={.items[0].spec.containers[1].image} secrets=[{.items[0].spec.imagePullSecrets[*].name}] ` +
		`dns=[{.items[0].spec.dnsConfig.options[*].value}] class={.items[0].spec.priorityClassName} label={.items[0].metadata.labels.team}`
	if got := i.kubectl.Run(t, i.args("get", "pods", "-l", "app.kubernetes.io/component=server", "-o", values)...); got != want {
		t.Errorf("the pod has %s, want %s", got, want)
	}
	if out := i.kubectl.Run(t, "get", "all,cm,secret,sa,pdb,networkpolicy", "-n", i.release, "-l", labelOfHelm, "-o", "name"); out != "" {
		t.Errorf("objects in the namespace of the release: %s", out)
	}
	i.kubectl.Run(t, i.args("get", "cm/more", "cm/webhookd-dashboard", "service/webhookd-metrics")...)
}

// followNotes does what the notes of the chart say, with the commands as they are printed there:
// looks at what a Job has wired or wires the CRD, and runs helm test.
func (i *installation) followNotes(t *testing.T) {
	t.Helper()
	notes := i.client.Run(t, i.ofRelease("get", "notes", "webhookd")...)
	commands := commandsOf(notes)
	did := map[string]bool{}
	for _, command := range commands {
		if verb := strings.Join(strings.Fields(command)[:2], " "); verb == "helm test" {
			i.wantCronTab(t, "noted", "localhost:80", "localhost 80") // cert-manager may need a moment
		}
		out := i.client.Shell(t, command, webhookFolder(t))
		for _, what := range []string{"crd status", "crd wire", "kubectl patch", "helm test"} {
			did[what] = did[what] || strings.Contains(command, what)
		}
		if strings.Contains(command, "crd status") && !strings.Contains(out, "trusts") {
			t.Errorf("%s\n%s", command, out)
		}
	}
	if guarded := strings.Contains(notes, "that drops or damages spec.conversion"); guarded != (i.mode.wiring != "") {
		t.Errorf("the notes name the guard: %v\n%s", guarded, notes)
	}
	wires := did["crd wire"] || did["kubectl patch"]
	if !did["helm test"] || wires == i.mode.jobs || did["crd status"] != i.mode.jobs {
		t.Errorf("the notes lack a command: %q\n%s", commands, notes)
	}
}

// commandsOf returns the indented paragraphs of a text that are commands.
func commandsOf(text string) []string {
	var commands []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		for _, program := range []string{"kubectl", "webhookd", "helm"} {
			if strings.HasPrefix(paragraph, "  "+program+" ") {
				commands = append(commands, paragraph)
			}
		}
	}
	return commands
}
