package crdwire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func service(t *testing.T, text string) crdwire.Target {
	t.Helper()
	target, err := crdwire.ParseService(text)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

const (
	head = "# a CRD\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com # its name\n"
	tail = "  # the group\n  group: example.com\n  versions: [{name: v1}, {name: v2}] # two\n"
	// what there is for the Service ns/webhookd
	stanza = "  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig:\n        service:\n          name: webhookd\n" +
		"          namespace: ns\n          path: /crdconvert\n          port: 443\n      conversionReviewVersions:\n      - v1\n"
)

func TestOnlyTheConversionChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"none", head + "spec: # of it\n" + tail, head + "spec: # of it\n" + stanza + tail},
		{"there already", head + "spec:\n" + tail + stanza, head + "spec:\n" + tail + stanza},
		{
			"strategy None", head + "spec:\n" + tail + "  conversion:\n    # for now\n    strategy: None # later\n\n# end\n",
			head + "spec:\n" + tail + "  conversion:\n    # for now\n    strategy: Webhook # later\n" + strings.TrimPrefix(stanza, "  conversion:\n    strategy: Webhook\n") + "\n# end\n",
		},
		{
			"in one line", head + "spec:\n  conversion: {strategy: None} # later\n" + tail,
			head + "spec:\n  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: webhookd, namespace: ns, path: /crdconvert, port: 443}}, " +
				"conversionReviewVersions: [v1]}} # later\n" + tail,
		},
		{"empty", head + "spec:\n  conversion:\n" + tail, head + "spec:\n" + stanza + tail},
		{
			"another port and path, in another order", head + "spec:\n  conversion:\n    webhook:\n      clientConfig:\n        service:\n          port: 8443 # old\n          name: \"webhookd\"\n" +
				"          namespace: 'ns'\n      conversionReviewVersions:\n      - v1beta1\n      - v1\n    strategy: \"Webhook\"\n" + tail,
			head + "spec:\n  conversion:\n    webhook:\n      clientConfig:\n        service:\n          port: 443 # old\n          name: \"webhookd\"\n" +
				"          namespace: 'ns'\n          path: /crdconvert\n      conversionReviewVersions:\n      - v1\n    strategy: \"Webhook\"\n" + tail,
		},
		{"carriage returns", strings.ReplaceAll(head+"spec:\n"+tail, "\n", "\r\n"), strings.ReplaceAll(head+"spec:\n"+stanza+tail, "\n", "\r\n")},
		{"no end of the last line", head + "spec:\n  group: example.com", head + "spec:\n" + stanza + "  group: example.com"},
		{
			"other documents", "kind: Other\nspec: {conversion: 1}\n---\n" + head + "spec:\n" + tail + "---\n# nothing\n---\njust text\n",
			"kind: Other\nspec: {conversion: 1}\n---\n" + head + "spec:\n" + stanza + tail + "---\n# nothing\n---\njust text\n",
		},
		{
			"a list", "apiVersion: v1\nkind: List\nitems:\n- kind: Other\n- " + strings.ReplaceAll(strings.TrimPrefix(head, "# a CRD\n")+"spec:\n"+tail, "\n", "\n  ") + "\n",
			"apiVersion: v1\nkind: List\nitems:\n- kind: Other\n- " + strings.ReplaceAll(strings.TrimPrefix(head, "# a CRD\n")+"spec:\n"+stanza+tail, "\n", "\n  ") + "\n",
		},
		{
			"JSON in one line", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"thing\u00e9s é"},"spec":{"group":"example.com"}}`,
			`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"thing\u00e9s é"},"spec":{"conversion":` +
				`{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"webhookd","namespace":"ns","path":"/crdconvert","port":443}},"conversionReviewVersions":["v1"]}},"group":"example.com"}}`,
		},
		{
			"JSON over lines", "{\n    \"apiVersion\": \"apiextensions.k8s.io/v1\",\n    \"kind\": \"CustomResourceDefinition\",\n    \"spec\": {\n        \"group\": \"{\",\n        \"conversion\": {\n            \"strategy\": \"None\"\n        }\n    }\n}\n",
			"{\n    \"apiVersion\": \"apiextensions.k8s.io/v1\",\n    \"kind\": \"CustomResourceDefinition\",\n    \"spec\": {\n        \"group\": \"{\",\n        \"conversion\": {\n            \"strategy\": \"Webhook\",\n            \"webhook\": {\n" +
				"                \"clientConfig\": {\n                    \"service\": {\n                        \"name\": \"webhookd\",\n                        \"namespace\": \"ns\",\n" +
				"                        \"path\": \"/crdconvert\",\n                        \"port\": 443\n                    }\n                },\n                \"conversionReviewVersions\": [\n                    \"v1\"\n                ]\n" +
				"            }\n        }\n    }\n}\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}}
			got, _, err := crdwire.Wire([]byte(tt.text), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			again, _, err := crdwire.Wire(got, o)
			if diff := cmp.Diff(string(got), string(again)); diff != "" || err != nil {
				t.Errorf("a second time: %v %s", err, diff)
			}
		})
	}
}

func TestTheBundle(t *testing.T) {
	t.Parallel()
	a, b := tlstest.NewCA(t, "a"), tlstest.NewCA(t, "b")
	wire := func(text string, bundle ...[]byte) string {
		o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}}
		for _, pem := range bundle {
			more, err := crdwire.ParseBundle(pem)
			if err != nil {
				t.Fatal(err)
			}
			o.Bundle = o.Bundle.With(more)
		}
		got, _, err := crdwire.Wire([]byte(text), o)
		if err != nil {
			t.Fatal(err)
		}
		crds, err := crdwire.Parse(got)
		if err != nil || len(crds) != 1 {
			t.Fatal(err)
		}
		return string(crds[0].Spec.Conversion.Webhook.ClientConfig.CABundle)
	}
	text := head + "spec:\n" + tail
	if got := wire(text); got != "" {
		t.Errorf("a bundle from nowhere: %s", got)
	}
	first, _, err := crdwire.Wire([]byte(text), crdwire.WireOptions{
		Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}, Bundle: crdwire.Bundle{a.Cert},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := wire(string(first)); got != string(a.PEM) {
		t.Errorf("not kept: %s", got)
	}
	if got := wire(string(first), b.PEM, a.PEM, b.PEM); got != string(b.PEM)+string(a.PEM) {
		t.Errorf("not replaced: %s", got)
	}
}

func TestCRDsThatCannotBeWired(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(stanza, "name: webhookd", "name: other")
	for _, tt := range []struct{ name, text, want string }{
		{"another Service", head + "spec:\n" + other + tail, "line 2: things.example.com: converted by Service ns/other already, --force points it at Service ns/webhookd"},
		{
			"a URL", head + "spec:\n  conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'https://a.example'}}}\n" + tail,
			"line 2: things.example.com: converted by https://a.example already, --force points it at Service ns/webhookd",
		},
		{"an unknown strategy", head + "spec:\n  conversion: {strategy: Magic}\n" + tail, "line 2: things.example.com: unknown strategy \"Magic\" of conversion, --force replaces it"},
		{"v1beta1", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {a: b}\n", "line 1: write it as apiextensions.k8s.io/v1 first, no API server serves apiextensions.k8s.io/v1beta1 any more"},
		{"no spec", head, "line 2: things.example.com: CustomResourceDefinition without a spec"},
		{"no CRD", "kind: Other\n", "no CustomResourceDefinition of apiextensions.k8s.io/v1 or CompositeResourceDefinition of apiextensions.crossplane.io here, name the file that has one"},
		{"no YAML", "a: b: c\n", "not YAML: mapping values are not allowed in this context"},
		{"an alias", "a: &a {group: example.com}\n" + head + "spec: *a\n", "line 1: anchors or aliases across the changed part, write them out first"},
		{
			"a merge key", "x: &x {conversion: {strategy: None}}\n" + head + "spec:\n  <<: *x\n  group: a\n",
			"line 1: anchors or aliases across the changed part, write them out first",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}}
			got, _, err := crdwire.Wire([]byte(tt.text), o)
			if err == nil || err.Error() != tt.want || got != nil {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if o.Force = true; strings.Contains(tt.want, "--force") {
				got, _, err := crdwire.Wire([]byte(tt.text), o)
				crds, _ := crdwire.Parse(got)
				if err != nil || len(crds) != 1 {
					t.Fatal(err)
				}
				if at, is := crdwire.TargetOf(crds[0]); !is || !at.Same(o.Target) {
					t.Errorf("points at %s", at)
				}
			}
		})
	}
}

func TestNamesChooseCRDs(t *testing.T) {
	t.Parallel()
	other := strings.Replace(head, "things", "others", 1)
	text := head + "spec:\n" + tail + "---\n" + other + "spec:\n" + tail
	o := crdwire.WireOptions{Target: service(t, "ns/webhookd"), ReviewVersions: []string{"v1"}, Names: []string{"others.example.com"}}
	got, wired, err := crdwire.Wire([]byte(text), o)
	if err != nil || len(wired) != 1 || wired[0].Name != "others.example.com" || wired[0].Versions != 2 {
		t.Fatal(wired, err)
	}
	if diff := cmp.Diff(head+"spec:\n"+tail+"---\n"+other+"spec:\n"+stanza+tail, string(got)); diff != "" {
		t.Error(diff)
	}
	o.Names = append(o.Names, "missing.example.com")
	if _, _, err := crdwire.Wire([]byte(text), o); err == nil || !strings.HasPrefix(err.Error(), "missing.example.com: ") {
		t.Error(err)
	}
}

func TestAURL(t *testing.T) {
	t.Parallel()
	target, err := crdwire.ParseURL("https://webhookd.example.com/crdconvert")
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := crdwire.Wire([]byte(head+"spec:\n"+stanza+tail), crdwire.WireOptions{Target: target, ReviewVersions: []string{"v1", "v1beta1"}, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	want := "  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig:\n        url: https://webhookd.example.com/crdconvert\n      conversionReviewVersions:\n      - v1\n      - v1beta1\n"
	if diff := cmp.Diff(head+"spec:\n"+want+tail, string(got)); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"http://a/b", "https://", "https://u@a", "https://a?b", "https://a#b", "a/b", ":"} {
		if _, err := crdwire.ParseURL(text); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
	for _, text := range []string{"", "a", "a/", "/a", "a/b/c", "A/b", "a/1b"} {
		if _, err := crdwire.ParseService(text); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

func TestEveryExampleCanBeWired(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../examples/*/crd*.yaml")
	more, err2 := filepath.Glob("../../../examples/crds/*.yaml")
	if files = append(files, more...); err != nil || err2 != nil || len(files) < 5 {
		t.Fatal(files, err, err2)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := crdwire.Wire(text, crdwire.WireOptions{Target: service(t, "ns/x"), ReviewVersions: []string{"v1"}, Force: true}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Whatever the text is, what comes out differs in spec.conversion alone (which Wire checks), and
// nothing panics.
func FuzzWire(f *testing.F) {
	for _, text := range []string{head + "spec:\n" + tail, head + "spec:\n" + stanza, "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"spec\":{\"a\":1}}"} {
		f.Add([]byte(text))
	}
	target := crdwire.Target{Namespace: "ns", Name: "webhookd", Port: 443, Path: "/crdconvert"}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := crdwire.WireOptions{Target: target, ReviewVersions: []string{"v1"}, Force: true}
		got, _, err := crdwire.Wire(text, o)
		if err != nil {
			return
		}
		again, _, err := crdwire.Wire(got, o)
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("%q becomes %q, and then %q: %v", text, got, again, err)
		}
	})
}
