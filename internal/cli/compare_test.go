package cli

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// engineWebhook converts Engines as someone's own webhook would: it has the right name for power,
// it does not know owner and note, and it knows no power over 1000.
func engineWebhook(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID     string           `json:"uid"`
			Desired string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	_ = decoder.Decode(&review)
	result := map[string]any{"status": "Success"}
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.Desired
		spec, _ := object["spec"].(map[string]any)
		if spec == nil {
			continue
		}
		delete(spec, "owner")
		from, to := "watts", "power"
		if review.Request.Desired == "example.com/v1" {
			from, to = to, from
		}
		if watts, has := spec[from]; has {
			delete(spec, from)
			spec[to] = watts
			if fmt.Sprint(watts) == "1234" {
				result = map[string]any{"status": "Failed", "message": "too much: the-secret-power"}
			}
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
		"response": map[string]any{"uid": review.Request.UID, "result": result, "convertedObjects": review.Request.Objects},
	})
}

// comparing returns a cluster whose CRD names engineWebhook by a Service, behind one pod.
func comparing(t *testing.T, name string) (c *testCluster, rules string) {
	t.Helper()
	c, rules = engines(t)
	c.Delete("/apis/example.com/v1/namespaces/b/engines/too-large")
	ca := tlstest.NewCA(t, "webhook")
	server := httptest.NewUnstartedServer(http.HandlerFunc(engineWebhook))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, tlstest.Leaf{Hosts: []string{name}}).TLS(t)}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of a client that refuses the certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	conversion := fmt.Sprintf(`"scope":"Namespaced","conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{
		"caBundle":%q,"service":{"namespace":"ops","name":"engines","path":"/convert","port":443}}}}`, base64.StdEncoding.EncodeToString(ca.PEM))
	c.Put(t, enginesPath, "kubectl", strings.Replace(enginesCRD, `"scope":"Namespaced"`, conversion, 1))
	c.Put(t, "/api/v1/namespaces/ops/services/engines", "kubectl", `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ops","name":"engines"},
		"spec":{"selector":{"app":"engines"},"ports":[{"port":443,"targetPort":9443}]}}`)
	c.Put(t, "/api/v1/namespaces/ops/pods/engines-0", "kubectl", `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ops","name":"engines-0","labels":{"app":"engines"}},
		"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	c.Listeners = map[string]string{"engines-0:9443": server.Listener.Addr().String()}
	return c, rules
}

// The webhook in place is reached as kubectl port-forward does, and its certificate is that of the
// Service.
func TestCompareLive(t *testing.T) {
	t.Parallel()
	c, rules := comparing(t, "engines.ops.svc")
	got := c.run(t, "compare", "--rules", rules, "--live", "--objects", "0", "--seed", "7")
	want := `Engine.example.com: differ on 2 of 6 objects (seed 7)
theirs: Service ops/engines
ours: rules.yaml
WHAT                         CONVERSION     FIELD           OBJECTS  FIRST
theirs fails                 v1 -> v1beta1  -               1        a/refused
theirs loses                 v1 -> v1beta1  v1 .spec.owner  1        a/kept
both differ from the source  v1 -> v1beta1  v1 .spec.color  1        b/default
both differ from the source  v1 -> v1beta1  v1 .spec.note   1        b/dropped
--show-values prints the values, and a small object for each
`
	if diff := cmp.Diff(want, strings.ReplaceAll(got.Stdout, rules, "rules.yaml")); diff != "" || got.Code != 1 || strings.Contains(got.Stdout+got.Stderr, "the-secret") {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	for _, request := range c.Requests() {
		verb, path, _ := strings.Cut(request, " ")
		if verb != "get" && verb != "list" && !strings.HasSuffix(path, "/portforward") {
			t.Errorf("a request that is more than reading: %s", request)
		}
	}
	got = c.run(t, "compare", "--rules", rules, "--live", "--objects", "0", "--seed", "7", "--show-values")
	for _, want := range []string{"the-secret-power\n", "  source: \"\"\n  theirs: absent\n  ours:   \"\"\nobject:\n  apiVersion: example.com/v1\n  kind: Engine\n  spec:\n    owner: \"\"\n"} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("with values: not printed: %s\n%+v", want, got)
		}
	}
}

// A pod with a certificate for another name is not the webhook in place.
func TestCompareVerifiesTheWebhookInPlace(t *testing.T) {
	t.Parallel()
	c, rules := comparing(t, "engines.other.svc")
	got := c.run(t, "compare", "--rules", rules, "--seed", "7")
	if got.Code != 1 || !strings.Contains(got.Stderr, "served certificate is not for the name that the API server asks for") {
		t.Errorf("%+v", got)
	}
}

func TestCompareWithoutACluster(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(engineWebhook))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	crd, rules := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "rules.yaml")
	writeFile(t, crd, enginesCRD)
	writeFile(t, rules, enginesRules)
	for _, test := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"rules", []string{"--rules", rules, "--show-values"}, 1, []string{
			"Engine.example.com: differ on ", "\ntheirs loses                 v1 -> v1beta1  v1 .spec.owner", "\nobject:\n  apiVersion: example.com/v1\n  kind: Engine\n  spec:\n    owner: \"\"\n",
		}},
		{"another webhook", []string{"--with", server.URL}, 0, []string{"Engine.example.com: convert the same, 40 objects (seed 7)\n", "both differ from the source"}},
		{"a path that is not compared", []string{"--rules", rules, "--drop", ".spec.owner", "--drop", ".spec.note"}, 0, []string{"Engine.example.com: convert the same, 40 objects (seed 7)\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, nil, strings.NewReader(""), append([]string{"compare", "--crds", crd, "--server", server.URL, "--seed", "7", "--objects", "20"}, test.args...)...)
			if got.Code != test.code {
				t.Errorf("%+v", got)
			}
			for _, want := range test.says {
				if !strings.Contains(got.Stdout, want) {
					t.Errorf("%q is not printed:\n%s", want, got.Stdout)
				}
			}
		})
	}
}

func TestCompareUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"both rules and a webhook: give --rules or --with":                                                  {"--rules", "x", "--with", "http://localhost/"},
		"no schemas to compare by: give the file or folder of the CRDs with --crds":                         {"--with", "http://localhost/"},
		"--with: not the URL of a webhook, write https://HOST[:PORT]/PATH without user, query and fragment": {"--with", "localhost", "--crds", "x"},
		"--with-ca-file: of no use without --with":                                                          {"--rules", "x", "--with-ca-file", "x"},
		"--ca-file: of no use without --server":                                                             {"--rules", "x", "--ca-file", "x"},
		"--namespace: of no use without --live":                                                             {"--rules", "x", "--namespace", "x"},
		"--context: of no use without --live and with --server":                                             {"--rules", "x", "--crds", "y", "--server", "http://localhost/", "--context", "x"},
		"nothing to compare: write 1 object at least, or give --live: --objects 0":                          {"--rules", "x", "--objects", "0"},
	} {
		got := runWith(t, nil, strings.NewReader(""), append([]string{"compare"}, args...)...)
		if got.Code != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%q: got %+v, want exit code 2 and %s", args, got, want)
		}
	}
}

// An object is posted in a review of its own, and what the webhook changes is a diff.
func TestCompareAnObject(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "webhook")
	server := httptest.NewUnstartedServer(http.HandlerFunc(engineWebhook))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, tlstest.Leaf{Hosts: []string{"127.0.0.1"}}).TLS(t)}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of a client that refuses the certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "ca.crt"), string(ca.PEM))
	const object = "apiVersion: example.com/v1\nkind: Engine\nmetadata:\n  name: a\nspec:\n  watts: %d\n  owner: b\n"
	writeFile(t, filepath.Join(dir, "engine.yaml"), fmt.Sprintf(object, 7))
	writeFile(t, filepath.Join(dir, "large.yaml"), fmt.Sprintf(object, 1234))
	trust := "--ca-file=" + filepath.Join(dir, "ca.crt")
	for _, tt := range []struct {
		name   string
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		{"a diff", []string{"-f", "engine.yaml", "--to", "v1beta1", trust}, 0, []string{"-apiVersion: example.com/v1\n", "+apiVersion: example.com/v1beta1\n", "-  watts: 7\n", "-  owner: b\n", "+  power: 7\n", "engine.yaml (v1beta1)\n"}, ""},
		{"colors", []string{"-f", "engine.yaml", "--to=v1beta1", "--color=always", trust}, 0, []string{"\x1b[31m-apiVersion: example.com/v1\x1b[0m\n", "\x1b[32m+  power: 7\x1b[0m\n"}, ""},
		{"a refusal", []string{"-f", "large.yaml", "--to", "v1beta1", trust}, 1, nil, `large.yaml: answer is "Failed", not "Success": too much`},
		{"an unknown CA", []string{"-f", "engine.yaml", "--to", "v1beta1"}, 1, nil, "hint: give the CA of the webhook's certificate with --ca-file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append(make([]string, 0, 3+len(tt.args)), "compare", "--server", server.URL+"/convert")
			for _, arg := range tt.args {
				if strings.HasSuffix(arg, ".yaml") {
					arg = filepath.Join(dir, arg)
				}
				args = append(args, arg)
			}
			got := runWith(t, nil, strings.NewReader(""), args...)
			if got.Code != tt.code || !strings.Contains(got.Stderr, tt.stderr) || tt.code != 0 && got.Stdout != "" {
				t.Errorf("%+v", got)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(got.Stdout, want) {
					t.Errorf("not printed: %q\n%s", want, got.Stdout)
				}
			}
		})
	}
}
