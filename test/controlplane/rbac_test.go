package controlplane_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// rbac checks that a user who may read a kind reads it at each version, and that nothing is
// converted for anyone who may not.
func rbac(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	r := e.Install(t, scenario.CRD(t, "crontabs.example.com"), w)
	p.MakeNamespace(t, "team", nil)
	r.Namespace = "team"
	r.Create(t, "v1beta1", "report", `{hostPort: "localhost:80"}`)
	t.Run("user without rights", func(t *testing.T) {
		outsider := p.Kubectl(t, p.Token(plane.NoRights))
		before := reviews(t, w)
		for args, want := range map[string]string{
			"-n team get crontabs.v1beta1.example.com report":                 `User "no-rights" cannot get resource "crontabs" in API group "example.com" in the namespace "team"`,
			"-n team get crontabs.v1.example.com":                             `User "no-rights" cannot list resource "crontabs" in API group "example.com" in the namespace "team"`,
			"-n team delete crontabs.v1beta1.example.com report":              `User "no-rights" cannot delete resource "crontabs" in API group "example.com" in the namespace "team"`,
			"-n team patch crontabs.v1.example.com report -p {} --type=merge": `User "no-rights" cannot get resource "crontabs" in API group "example.com" in the namespace "team"`,
		} {
			forbidden(t, outsider, args, want)
		}
		if got := reviews(t, w); got != before {
			t.Errorf("webhookd was asked %g times for a user without rights", got-before)
		}
	})
	t.Run("service account", func(t *testing.T) {
		admin := p.Kubectl(t, p.Token(plane.Admin))
		admin.Run(t, "-n", "team", "create", "serviceaccount", "reader")
		admin.Run(t, "-n", "team", "create", "role", "reader", "--verb=get,list", "--resource=crontabs.example.com")
		admin.Run(t, "-n", "team", "create", "rolebinding", "reader", "--role=reader", "--serviceaccount=team:reader")
		reader := p.Kubectl(t, strings.TrimSpace(admin.Run(t, "-n", "team", "create", "token", "reader")))
		r.MustConvert(t, w, 1, func() {
			for _, version := range r.Served {
				got := reader.Run(t, "-n", "team", "get", "crontabs."+version+".example.com", "report", "-o", "jsonpath={.hostPort} {.host} {.port}")
				if want := map[string]string{"v1beta1": "localhost:80  ", "v1": " localhost 80"}[version]; got != want {
					t.Errorf("read at %s: %q, want %q", version, got, want)
				}
				if out := reader.Run(t, "-n", "team", "get", "crontabs."+version+".example.com", "-o", "name"); out != "crontab.example.com/report\n" {
					t.Errorf("list at %s: %q", version, out)
				}
			}
		})
		const account = `User "system:serviceaccount:team:reader" cannot `
		forbidden(t, reader, "-n team delete crontabs.v1beta1.example.com report", account+`delete resource "crontabs" in API group "example.com" in the namespace "team"`)
		forbidden(t, reader, "-n default get crontabs.v1beta1.example.com", account+`list resource "crontabs" in API group "example.com" in the namespace "default"`)
	})
}

// forbidden runs what the API server has to refuse in these words.
func forbidden(t *testing.T, kubectl *plane.Client, args, want string) {
	t.Helper()
	got := kubectl.Fails(t, strings.Fields(args)...)
	if !strings.HasPrefix(got, "Error from server (Forbidden): ") || !strings.Contains(got, want) {
		t.Errorf("kubectl %s:\ngot  %s\nwant %s", args, got, want)
	}
}

// reviews returns how often webhookd was asked.
func reviews(t *testing.T, w scenario.Scraped) float64 {
	t.Helper()
	return w.Metrics(t).Sum("webhookd_reviews_total")
}
