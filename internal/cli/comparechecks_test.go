package cli

import (
	"bytes"
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
)

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

func TestCheckWebhookUsage(t *testing.T) {
	t.Parallel()
	const crd = "../../examples/crds/crontabs.example.com.yaml"
	for want, args := range map[string][]string{
		"--server: not the URL of a webhook, write https://HOST[:PORT]/PATH without user, query and fragment": {"--server", "localhost:9443", "--crds", crd},
		`--skip "ordr": no such check, did you mean order?`:                                                   {"--server", "https://localhost/", "--crds", crd, "--skip", "ordr"},
		"--skip: of no use to compare":                                                                        {"--server", "https://localhost/", "--crds", crd, "--rules", "x", "--skip", "uid"},
		"no schemas to compare by":                                                                            {"--server", "https://localhost/"},
		"--to: of no use without --filename":                                                                  {"--server", "https://localhost/", "--crds", crd, "--to", "v1"},
		"--filename: objects without a webhook or a version, give --server and --to":                          {"-f", "x", "--to", "v1"},
		"--crds: of no use with --filename":                                                                   {"--server", "https://localhost/", "--crds", crd, "-f", "x", "--to", "v1"},
		"not a path, write it as rules do":                                                                    {"--server", "https://localhost/", "--crds", crd, "--drop", "spec"},
		"nothing to compare: write 1 object at least":                                                         {"--server", "https://localhost/", "--crds", crd, "--objects", "0"},
	} {
		got := runWith(t, nil, strings.NewReader(""), append([]string{"compare"}, args...)...)
		if got.Code != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%q: got %+v, want exit code 2 and %s", args, got, want)
		}
	}
}

func TestCheckWebhookOfAnUnknownCA(t *testing.T) {
	t.Parallel()
	url, _ := exampleWebhook(t, func(answer []byte) []byte { return answer })
	got := runWith(t, nil, strings.NewReader(""), "compare", "--server", url, "--crds", "../../examples/crds/crontabs.example.com.yaml", "--objects", "1")
	const hint = "hint: give the CA of the webhook's certificate with --ca-file, such as ca.crt of its Secret\n"
	if got.Code != 1 || !strings.HasSuffix(got.Stderr, hint) {
		t.Errorf("got %+v, want exit code 1 and %s", got, hint)
	}
}
