package controlplane_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A lane has failures that can share a CRD, and so come one after the other.
type lane struct {
	name    string
	classes []failure
}

// lanes returns the failures; those that take long come first.
func lanes() []lane {
	return []lane{
		{"Timeout", []failure{
			{name: "timeout", crd: kind("Gizmo"), stored: `{size: 1}`, other: `{size: 1}`, breaks: neverAnswers},
		}},
		{"Slow", []failure{
			{
				name: "too-slow", crd: kind("Doodad"), stored: `{size: 1}`, other: `{size: 1}`, honest: true,
				breaks:  madeUp(), // and if it is slow to see that its time is up, webhookd answers without it
				or:      `converter did not return before the deadline of the request, fix it`,
				instead: "deadline of the request exceeded, make the converter faster or raise request-timeout up to 30 s",
				metric:  []string{"webhookd_objects_total", "result", "failed"},
			},
		}},
		{"CronTab", slices.Concat(unreachable(), refusals(), []failure{versionNotRegistered()})},
		{"Overload", []failure{overload()}},
		{"Converter", slices.Concat(honestFailures(), failuresOfRules())},
	}
}

// unreachable are those in which webhookd is not asked.
func unreachable() []failure {
	classes := []failure{
		{name: "connection-refused", breaks: nobodyListens},
		{name: "no-service", breaks: nobodyListens, change: otherService},
		{name: "no-port", breaks: nobodyListens, change: otherPort},
		{name: "ca-bundle", breaks: wrongCABundle},
		{name: "certificate-expired", breaks: expiredCertificate},
		{name: "certificate-name", breaks: wrongName},
		{
			// The API server has sent its request by then, and may notice first that no one reads
			// it, or that it has hung up itself.
			name: "client-certificate", breaks: wantsClientCertificates,
			or: `(net/http: HTTP/1\.x transport connection broken: )?(readLoopPeekFailLocked: )?` +
				`(remote error: tls: certificate required` +
				`|((read|write) tcp \S+: )?((read|write): )?(connection reset by peer|broken pipe|use of closed network connection))`,
			instead: "remote error: tls: certificate required",
		},
		{
			name: "wrong-path", breaks: webhookd("--path=/conversion"),
			metric: []string{"webhookd_rejected_total", "code", "404"},
		},
	}
	for i := range classes {
		classes[i].crd = crontabs
		classes[i].stored, classes[i].other = `{host: localhost, port: "80"}`, `{hostPort: "localhost:80"}`
	}
	return classes
}

// refusals are those in which webhookd does not look at the object.
func refusals() []failure {
	large := strings.Repeat("x", 100_000)
	deep := `{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`
	return []failure{
		{
			name: "too-large", crd: crontabs, stored: `{host: localhost, spec: {image: ` + large + `}}`,
			other:  `{hostPort: localhost, spec: {image: ` + large + `}}`,
			breaks: webhookd("--max-body=64Ki"),
			metric: []string{"webhookd_rejected_total", "code", "413"},
		},
		{
			name: "malformed", crd: withoutSchema("crontabs.example.com"),
			stored: `{spec: ` + deep + `}`, other: `{spec: ` + deep + `}`, breaks: webhookd(),
			metric: []string{"webhookd_reviews_total", "result", "rejected"},
		},
	}
}

func versionNotRegistered() failure {
	return failure{
		name: "version-not-registered", crd: otherVersions, stored: `{spec: {image: cron}}`, other: `{spec: {image: cron}}`,
		breaks: webhookd(), metric: []string{"webhookd_objects_total", "result", "failed", "to", "unknown"}, honest: true,
	}
}

func overload() failure {
	return failure{
		name: "overload", crd: func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
			t.Helper()
			return scenario.CRD(t, "crontabs.stable.example.com")
		},
		stored: `{host: localhost, port: "80"}`, other: `{hostPort: "localhost:80"}`, breaks: overloaded,
		metric: []string{"webhookd_shed_total", "reason", "bytes"},
	}
}

// honestFailures are those in which webhookd answers that it cannot convert.
func honestFailures() []failure {
	classes := []failure{
		{
			name: "not-registered", crd: kind("Widget"), breaks: webhookd(),
			metric: []string{"webhookd_objects_total", "result", "failed", "kind", "unknown"},
		},
		{
			name: "not-convertible", crd: withoutSchema("databases.example.com"), stored: `{spec: {storageGB: "20"}}`,
			other: `{spec: {storageGB: "20"}}`, breaks: webhookd(),
			metric: []string{"webhookd_objects_total", "result", "failed", "kind", "Database.example.com"},
		},
		{
			name: "converter-panicked", crd: kind("Gadget"), breaks: madeUp("GADGET=panics"),
			metric: []string{"webhookd_converter_panics_total", "kind", "Gadget.example.com"},
		},
		{
			name: "metadata-changed", crd: kind("Gadget"), breaks: madeUp(),
			metric: []string{"webhookd_guard_rejections_total", "path", ".metadata.name"},
		},
	}
	for i := range classes {
		classes[i].honest = true
		if classes[i].stored == "" {
			classes[i].stored, classes[i].other = `{size: 1}`, `{size: 1}`
		}
	}
	return classes
}

func crontabs(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return scenario.CRD(t, "crontabs.example.com")
}

func nobodyListens(t *testing.T, s site) scenario.Target {
	t.Helper()
	return target{s.address(t), tlstest.NewCA(t, "unknown")}
}

func otherService(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "webhook"
}

func otherPort(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Conversion.Webhook.ClientConfig.Service.Port = new(int32(8443))
}

// webhookd starts it with flags under which it fails.
func webhookd(flags ...string) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		w := webhook.Start(t, s.options(t, flags...))
		w.Tolerate("review failed", "body rejected", `"findings":[`)
		return w
	}
}

func wrongCABundle(t *testing.T, s site) scenario.Target {
	t.Helper()
	w := webhook.Start(t, s.options(t))
	w.Tolerate("TLS handshake error")
	return target{w.Addr(), tlstest.NewCA(t, "another")}
}

// wantsClientCertificates turns away clients without one, and the API server has none.
func wantsClientCertificates(t *testing.T, s site) scenario.Target {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clients.crt")
	if err := os.WriteFile(path, tlstest.NewCA(t, "of clients").PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	w := webhook.Start(t, s.options(t, "--client-ca-file="+path))
	w.Tolerate("TLS handshake error")
	return w
}

func wrongName(t *testing.T, s site) scenario.Target {
	t.Helper()
	o := s.options(t)
	o.Hosts = []string{"webhookd.example.com"}
	w := webhook.Start(t, o)
	w.Tolerate("TLS handshake error")
	return w
}

// otherVersions is the CRD of CronTabs with a version that webhookd does not know.
func otherVersions(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := crontabs(t)
	scenario.Version(t, crd, "v1beta1").Name = "v1beta2"
	return crd
}
