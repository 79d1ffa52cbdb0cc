package cli

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const (
	crontabs     = "crontabs.example.com"
	crontabsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crontabs
	secretPath   = "/api/v1/namespaces/webhookd/secrets/webhookd-tls" //nolint:gosec // a path
	crontabsCRD  = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + crontabs + `"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},"conversion":{"strategy":"None"},
		"versions":[{"name":"v1beta1","served":true,"storage":false},{"name":"v1","served":true,"storage":true}]},
		"status":{"storedVersions":["v1"]}}`
)

// A testCluster is an API server for a test, and the flags for it.
type testCluster struct {
	*clustertest.Server

	flags []string
}

func newCluster(t *testing.T) *testCluster {
	t.Helper()
	s := clustertest.New()
	return &testCluster{s, []string{"--kubeconfig", s.Kubeconfig(t, "")}}
}

func (c *testCluster) run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, nil, strings.NewReader(""), slices.Concat(args, c.flags)...)
}

// startServing serves from a folder, and returns the address.
func startServing(t *testing.T, dir string) string {
	t.Helper()
	log := &logBuffer{changed: make(chan struct{})}
	ended := make(chan int, 1)
	ctx := t.Context() // ends before the cleanups
	go func() {
		ended <- Run(ctx, "", exampleKinds(), []string{"webhookd", "serve", "--tls-dir", dir, "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--drain-delay=0s"}, nil, strings.NewReader(""), io.Discard, log)
	}()
	t.Cleanup(func() { <-ended })
	return log.wait(t, `"msg":"serving","listen":"([^"]+)"`)[1]
}

// mount writes a Secret as the kubelet mounts it.
func (c *testCluster) mount(t *testing.T, dir string) {
	t.Helper()
	var secret struct {
		Data map[string][]byte `json:"data"`
	}
	if !c.Get(t, secretPath, &secret) {
		t.Fatal("no Secret")
	}
	tlstest.WriteSecretDir(t, dir, secret.Data)
}

// TestFromNothingToAWiredCRD follows the chart without cert-manager: a certificate, a server, a CRD
// that points at it, and crd release, which refuses.
func TestFromNothingToAWiredCRD(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Put(t, crontabsPath, "kubectl-create", crontabsCRD)
	ensure := strings.Fields("certs ensure --secret webhookd/webhookd-tls --service webhookd/webhookd --crd " + crontabs)
	if got := c.run(t, ensure...); got.Code != 0 || !strings.Contains(got.Stderr, "issued a leaf") || got.Stdout != "" {
		t.Fatalf("%+v", got)
	}
	dir := filepath.Join(t.TempDir(), "tls")
	c.mount(t, dir)
	address := startServing(t, dir)
	caFile := filepath.Join(dir, "ca.crt")
	service := []string{"--service", "webhookd/webhookd"}

	status := slices.Concat([]string{"crd", "status", "--name", crontabs, "--address", address}, service)
	if got := c.run(t, status...); got.Code != 1 || !strings.Contains(got.Stdout, "WRONG        rules     objects are not converted") {
		t.Errorf("%+v", got)
	}
	c.Put(t, "/api/v1/namespaces/webhookd/services/webhookd", "helm", `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"webhookd","name":"webhookd"},"spec":{"ports":[{"port":443}]}}`)
	c.Put(t, "/apis/discovery.k8s.io/v1/namespaces/webhookd/endpointslices/webhookd-1", "kubelet", `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",
		"metadata":{"namespace":"webhookd","name":"webhookd-1","labels":{"kubernetes.io/service-name":"webhookd"}},"endpoints":[{"addresses":["10.0.0.1"]}]}`)
	apply := slices.Concat([]string{"crd", "apply", "--crd", crontabs, "--ca-file", caFile, "--address", address, "--timeout", "20s"}, service)
	if got := c.run(t, apply...); got.Code != 0 || !strings.Contains(got.Stderr, "webhookd: crontabs.example.com: converted by Service webhookd/webhookd\n") {
		t.Fatalf("%+v", got)
	}
	if got := c.run(t, status...); got.Code != 0 || !strings.Contains(got.Stdout, "ok           reviews      test reviews succeed\n") {
		t.Errorf("%+v", got)
	}
	if got := c.run(t, append(status, "-o", "json")...); got.Code != 0 || !strings.Contains(got.Stdout, `"state": "ok"`) {
		t.Errorf("%+v", got)
	}

	review := slices.Concat([]string{"review", "--ca-file", caFile, "--address", address}, service)
	if got := runWith(t, nil, strings.NewReader(""), slices.Concat(review, []string{"-f", sampleReview, "-f", sampleReview})...); got.Code != 0 ||
		strings.Count(got.Stdout, `"status":"Success"`) != 2 {
		t.Errorf("%+v", got)
	}
	body, err := os.Open(sampleReview)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close() //nolint:errcheck // nothing was written
	if got := runWith(t, nil, body, review...); got.Code != 0 || !strings.Contains(got.Stdout, `"status":"Success"`) || got.Stderr != "" {
		t.Errorf("%+v", got)
	}

	if got := c.run(t, slices.Concat([]string{"crd", "release", "--crd", crontabs}, service)...); got.Code != 1 || !strings.HasPrefix(got.Stderr, "webhookd: "+crontabs+" is converted by Service webhookd/webhookd: ") {
		t.Errorf("%+v", got)
	}
	if got := c.run(t, "crd", "release", "--service", "webhookd/other"); got.Code != 0 || !strings.Contains(got.Stderr, "no CRD needs it") {
		t.Errorf("%+v", got)
	}

	// managedFields may still name a version that is no longer served, but never one that is gone.
	var crd struct {
		Spec map[string]any `json:"spec"`
	}
	c.Get(t, crontabsPath, &crd)
	conversion, err := json.Marshal(crd.Spec["conversion"])
	if err != nil {
		t.Fatal(err)
	}
	for versions, want := range map[string]result{
		`{"name":"v1beta1"},{"name":"v1","served":true,"storage":true}`: {Code: 1, Stderr: "webhookd: crontabs.example.com is converted by Service webhookd/webhookd: without it, its objects " +
			"whose managedFields name a version of spec.versions that is neither served nor stored could not be applied: v1beta1\n"},
		`{"name":"v1","served":true,"storage":true}`: {Code: 0, Stderr: "webhookd: no CRD needs it\n"},
	} {
		left := newCluster(t)
		left.Put(t, crontabsPath, "kubectl", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"`+crontabs+`"},
			"spec":{"group":"example.com","names":{"plural":"crontabs","kind":"CronTab"},"conversion":`+string(conversion)+`,"versions":[`+versions+`]},
			"status":{"storedVersions":["v1"]}}`)
		if got := left.run(t, slices.Concat([]string{"crd", "release"}, service)...); got.Code != want.Code || !strings.HasPrefix(got.Stderr, want.Stderr) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}

	// The CA is replaced: both are trusted at once, and the server goes on with the old one.
	if got := c.run(t, slices.Concat(ensure, []string{"--rotate-ca"})...); got.Code != 0 || !strings.Contains(got.Stderr, "made the next CA") {
		t.Errorf("%+v", got)
	}
	got := c.run(t, status...)
	if trusted := regexp.MustCompile(`CN=CA of \S+ until `).FindAllString(got.Stdout, -1); got.Code != 0 || len(trusted) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "nowhere")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, args := range []string{"crd release --service a/b", "certs ensure --secret a/b --service a/b"} {
		want := result{2, "", "webhookd: no cluster: there is no kubeconfig, and this is not a pod\n" +
			"hint: name the kubeconfig with --kubeconfig or KUBECONFIG\n"}
		if got := runWith(t, nil, strings.NewReader(""), strings.Fields(args)...); got != want {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// As for kubectl, a name without a namespace is one of -n, or of the context.
func TestNamesWithoutANamespace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Put(t, crontabsPath, "kubectl-create", crontabsCRD)
	ensure := strings.Fields("certs ensure --secret webhookd-tls --service webhookd --crd " + crontabs)
	if got := c.run(t, ensure...); got.Code != 0 || !c.Get(t, secretPath, &struct{}{}) {
		t.Errorf("%+v", got)
	}
	if got := c.run(t, append(ensure, "-n", "other")...); got.Code != 0 || !strings.Contains(got.Stderr, "Secret other/webhookd-tls: issued a leaf") {
		t.Errorf("%+v", got)
	}
	wire := append(strings.Fields("crd wire -f - --service webhookd"), c.flags...)
	for want, more := range map[string][]string{`"namespace":"webhookd"`: nil, `"namespace":"other"`: {"-n", "other"}} {
		got := runWith(t, nil, strings.NewReader(crontabsCRD), append(wire, more...)...)
		if got.Code != 0 || !strings.Contains(strings.ReplaceAll(got.Stdout, " ", ""), want) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

func TestWireKeepsABundleThatKubectlPrints(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	text := strings.Replace(crontabsCRD, `{"strategy":"None"}`, `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"b"},"caBundle":"`+
		base64.StdEncoding.EncodeToString(ca.PEM)+`"}}}`, 1)
	got := runWith(t, nil, strings.NewReader(text), "crd", "wire", "-f", "-", "--service", "a/b")
	if got.Code != 0 || !strings.Contains(got.Stdout, base64.StdEncoding.EncodeToString(ca.PEM)) || got.Stderr != "" {
		t.Errorf("%+v", got)
	}
}

func TestApplyGivesUpAfterItsTimeout(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Put(t, crontabsPath, "kubectl-create", crontabsCRD)
	ca := tlstest.NewCA(t, "a")
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, ca.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	got := c.run(t, "crd", "apply", "--crd", crontabs, "--service", "a/b", "--ca-file", file, "--address", "127.0.0.1:1", "--timeout", "300ms")
	if got.Code != 1 || !strings.Contains(got.Stderr, "no CRD was changed: crontabs.example.com: no good answer within ") {
		t.Errorf("%+v", got)
	}
}

// A mounted Secret may be filled only while the Job runs.
func TestTheCAFileIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Put(t, crontabsPath, "kubectl-create", crontabsCRD)
	file := filepath.Join(t.TempDir(), "ca.crt")
	apply := []string{"crd", "apply", "--crd", crontabs, "--service", "a/b", "--ca-file", file, "--address", "127.0.0.1:1", "--timeout"}
	if got := c.run(t, append(apply, "10ms")...); got.Code != 1 || !strings.HasPrefix(got.Stderr, "webhookd: waiting: "+file+": cannot read the CAs: no such file or directory, give their file with --ca-file") {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(file, tlstest.NewCA(t, "a").PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.run(t, append(apply, "10ms")...); got.Code != 1 || !strings.Contains(got.Stderr, "no CRD was changed") {
		t.Errorf("%+v", got)
	}
}
