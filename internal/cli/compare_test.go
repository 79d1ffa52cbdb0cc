package cli

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// engineWebhook converts Engines as someone's own webhook would: it has the right name for power,
// it does not know owner and note, and it knows no power over 1000.
func engineWebhook(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Request struct {
			UID     string           `json:"uid"`
			Desired string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	_ = decoder.Decode(&sent)
	result := map[string]any{"status": "Success"}
	for _, object := range sent.Request.Objects {
		object["apiVersion"] = sent.Request.Desired
		spec, _ := object["spec"].(map[string]any)
		if spec == nil {
			continue
		}
		delete(spec, "owner")
		from, to := "watts", "power"
		if sent.Request.Desired == "example.com/v1" {
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
		"response": map[string]any{"uid": sent.Request.UID, "result": result, "convertedObjects": sent.Request.Objects},
	})
}

// engineServer serves engineWebhook with a certificate for a host.
func engineServer(t *testing.T, host string) (*httptest.Server, *tlstest.CA) {
	t.Helper()
	ca := tlstest.NewCA(t, "webhook")
	server := httptest.NewUnstartedServer(http.HandlerFunc(engineWebhook))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, tlstest.Leaf{Hosts: []string{host}}).TLS(t)}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of a client that refuses the certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, ca
}

// comparing returns a cluster whose CRD names engineWebhook by a Service, behind one pod.
func comparing(t *testing.T, name string) (c *testCluster, rules string) {
	t.Helper()
	c, rules = engines(t)
	c.Delete("/apis/example.com/v1/namespaces/b/engines/too-large")
	server, ca := engineServer(t, name)
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
// Service. The how-to shows what the commands print about it, which -update rewrites.
//
//nolint:paralleltest // it works in a folder of its own, with KUBECONFIG
func TestTheHowToOfCompareIsTrue(t *testing.T) {
	page, err := filepath.Abs("../../docs/how-to/compare-with-your-webhook.md")
	if err != nil {
		t.Fatal(err)
	}
	c, rules := comparing(t, "engines.ops.svc")
	writeFile(t, filepath.Join(filepath.Dir(rules), "crd.yaml"), enginesCRD)
	server := httptest.NewServer(http.HandlerFunc(engineWebhook))
	t.Cleanup(server.Close)
	t.Setenv("URL", server.URL)
	t.Setenv("KUBECONFIG", c.flags[1])
	t.Chdir(filepath.Dir(rules))
	if commands := followFile(t, page, "webhookd"); commands != 3 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
	for _, request := range c.Requests() {
		verb, path, _ := strings.Cut(request, " ")
		if verb != "get" && verb != "list" && !strings.HasSuffix(path, "/portforward") {
			t.Errorf("a request that is more than reading: %s", request)
		}
	}
	got := c.run(t, "compare", "--rules", rules, "--live", "--objects", "0", "--seed", "7", "--show-values")
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
		{"nothing listens", []string{"--rules", rules, "--server", "http://127.0.0.1:1"}, 1, []string{"webhookd: http://127.0.0.1:1, asked for objects of Engine.example.com: dial tcp "}},
		{"nothing listens, as ours", []string{"--with", "http://127.0.0.1:1"}, 1, []string{"webhookd: http://127.0.0.1:1, asked for objects of Engine.example.com: dial tcp "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, nil, strings.NewReader(""), append([]string{"compare", "--crds", crd, "--server", server.URL, "--seed", "7", "--objects", "20"}, test.args...)...)
			if got.Code != test.code {
				t.Errorf("%+v", got)
			}
			for _, want := range test.says {
				if !strings.Contains(got.Stdout+got.Stderr, want) {
					t.Errorf("%q is not printed:\n%s%s", want, got.Stdout, got.Stderr)
				}
			}
		})
	}
}

// An object is posted in a review of its own, and what the webhook changes is a diff.
func TestCompareAnObject(t *testing.T) {
	t.Parallel()
	server, ca := engineServer(t, "127.0.0.1")
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

// exampleWebhook serves the kinds of examples/custom-server over TLS, with a change to each answer.
// It returns its URL and the file of its CA.
func exampleWebhook(t *testing.T, change func(answer []byte) []byte) (url, caFile string) {
	t.Helper()
	registry, err := converters.NewRegistry(exampletest.Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	handler := review.NewHandler(review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{}))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := httptest.NewRecorder()
		handler.ServeHTTP(inner, r)
		w.WriteHeader(inner.Code)
		_, _ = w.Write(change(inner.Body.Bytes()))
	}))
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(caFile, crdwire.Bundle{server.Certificate()}.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL + "/convert", caFile
}

func TestCheckWebhook(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func([]byte) []byte
		skip   []string
		code   int
		want   string
	}{
		{"pass", func(answer []byte) []byte { return answer }, nil, 0, "CronTab.example.com: 15 of 16 checks pass, 0 fail, 1 not tested (seed 7)\n"},
		{
			"fail", func(answer []byte) []byte { return bytes.Replace(answer, []byte(`"uid":"`), []byte(`"uid":"x`), 1) }, nil, 1,
			"uid, v1beta1 -> v1\nrequired: the answer has the uid of the request\notherwise: kube-apiserver refuses the answer\nproblem: uid is \"x",
		},
		{
			"skipped", func(answer []byte) []byte { return bytes.Replace(answer, []byte(`"uid":"`), []byte(`"uid":"x`), 1) },
			[]string{"--skip", "uid", "--skip", "v1beta1"},
			0,
			"CronTab.example.com: 13 of 14 checks pass, 0 fail, 1 not tested (seed 7)\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url, ca := exampleWebhook(t, test.change)
			args := []string{"compare", "--server", url, "--ca-file", ca, "--crds", "../../examples/crds/crontabs.example.com.yaml", "--seed", "7", "--objects", "10"}
			got := runWith(t, nil, strings.NewReader(""), slices.Concat(args, test.skip)...)
			if got.Code != test.code || got.Stderr != "" || !strings.Contains(got.Stdout, test.want) {
				t.Errorf("got %+v, want exit code %d and %s", got, test.code, test.want)
			}
		})
	}
}

// The command that is printed finds the same.
func TestCheckWebhookAgain(t *testing.T) {
	t.Parallel()
	url, ca := exampleWebhook(t, func(answer []byte) []byte { return bytes.ReplaceAll(answer, []byte(`"host"`), []byte(`"hoost"`)) })
	args := []string{"compare", "--server", url, "--ca-file", ca, "--crds", "../../examples/crds/crontabs.example.com.yaml", "--seed", "7", "--objects", "10"}
	first := runWith(t, nil, strings.NewReader(""), args...)
	_, after, found := strings.Cut(first.Stdout, "\nagain: webhookd ")
	command, _, _ := strings.Cut(after, "\n")
	if !found {
		t.Fatalf("no command: %+v", first)
	}
	again := runWith(t, nil, strings.NewReader(""), strings.Fields(command)...)
	part := func(text string) string {
		_, text, _ = strings.Cut(text, "\nrequired: ")
		text, _, _ = strings.Cut(text, "\nagain: ")
		return text
	}
	if diff := cmp.Diff(part(first.Stdout), part(again.Stdout)); diff != "" || part(first.Stdout) == "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}
