package chart_test

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/chart"
)

const host = chart.ReleaseName + "." + chart.Namespace + ".svc"

// secret returns the decoded content of a Secret of a rendering.
func secret(t *testing.T, r chart.Rendering, name string) map[string]string {
	t.Helper()
	o := object(t, r, "Secret", name)
	data, _ := o["data"].(map[string]any)
	decoded := make(map[string]string, len(data))
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
		if err != nil {
			t.Fatal(err)
		}
		decoded[key] = string(text)
	}
	return decoded
}

// certificate returns the first certificate of a PEM text.
func certificate(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatal("no PEM")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lifetimes says how long the CA and the leaf of mode helm are valid.
func lifetimes(t *testing.T, r chart.Rendering) string {
	t.Helper()
	life := func(text string) time.Duration {
		c := certificate(t, text)
		return c.NotAfter.Sub(c.NotBefore)
	}
	pair := secret(t, r, "webhookd-tls")
	return fmt.Sprint(life(pair["ca.crt"]), life(pair["tls.crt"]))
}

// cluster returns a Cluster with the Secrets of a rendering.
func cluster(t *testing.T, r chart.Rendering) *chart.Cluster {
	t.Helper()
	var secrets []map[string]any
	for _, o := range objects(t, r) {
		if o["kind"] == "Secret" {
			secrets = append(secrets, o)
		}
	}
	return chart.NewCluster(secrets...)
}

// kube-apiserver accepts Helm's certificate with the CA of the stanza.
func TestHelmMakesACertificate(t *testing.T) {
	t.Parallel()
	r := render(t, nil, nil)
	pair, authority := secret(t, r, "webhookd-tls"), secret(t, r, "webhookd-ca")
	if _, err := tls.X509KeyPair([]byte(pair["tls.crt"]), []byte(pair["tls.key"])); err != nil {
		t.Error(err)
	}
	if _, err := tls.X509KeyPair([]byte(authority["tls.crt"]), []byte(authority["tls.key"])); err != nil {
		t.Error(err)
	}
	if authority["tls.crt"] != pair["ca.crt"] {
		t.Error("the CA of the pair is not the CA")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(pair["ca.crt"]))
	leaf := certificate(t, pair["tls.crt"])
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
		t.Error(err)
	}
	if _, is := leaf.PublicKey.(*ecdsa.PublicKey); !is {
		t.Errorf("the key is a %T", leaf.PublicKey)
	}
	stanza := "caBundle: " + base64.StdEncoding.EncodeToString([]byte(pair["ca.crt"]))
	if !strings.Contains(r["NOTES.txt"], stanza) {
		t.Errorf("the notes have no %s:\n%s", stanza, r["NOTES.txt"])
	}
	if !strings.Contains(r["tls/helm.yaml"], "No API server") || !strings.Contains(r["NOTES.txt"], "No API server") {
		t.Error("it does not say that this needs a cluster")
	}
}

// No two modes share a Secret, so a change of the mode neither finds the Secret of another mode nor
// deletes it.
func TestModesShareNoSecret(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for _, mode := range []string{"helm", "certManager", "selfManaged"} {
		for _, o := range objects(t, render(t, values(t, "{tls: {mode: "+mode+"}}"), nil)) {
			path := []string{"metadata", "name"}
			switch o["kind"] {
			case "Secret":
			case "Certificate":
				path = []string{"spec", "secretName"}
			default:
				continue
			}
			name := at(t, o, path...)
			if other, is := of[name]; is && other != mode {
				t.Errorf("%s is of %s and of %s", name, other, mode)
			}
			of[name] = mode
		}
	}
	if len(of) != 6 {
		t.Errorf("Secrets %v", of)
	}
}

// Upgrades keep the pair in the cluster. They replace only a leaf that is old or for another name,
// and never the CA.
func TestHelmKeepsTheCertificate(t *testing.T) {
	t.Parallel()
	first := render(t, nil, chart.NewCluster())
	if strings.Contains(first.String(), "No API server") {
		t.Error("with a cluster it reports that it has none")
	}
	second := render(t, nil, cluster(t, first))
	if first["tls/helm.yaml"] != second["tls/helm.yaml"] {
		t.Error("an upgrade creates another certificate")
	}
	for _, annotation := range []string{"renew-after", "host"} {
		var secrets []map[string]any
		for _, o := range objects(t, first) {
			if o["kind"] != "Secret" {
				continue
			}
			if annotations, is := chart.Get(o, []string{"metadata", "annotations"}); is {
				annotations.(map[string]any)["webhookd.io/"+annotation] = "1"
			}
			secrets = append(secrets, o)
		}
		renewed := render(t, nil, chart.NewCluster(secrets...))
		before, after := secret(t, first, "webhookd-tls"), secret(t, renewed, "webhookd-tls")
		if before["tls.crt"] == after["tls.crt"] || before["tls.key"] == after["tls.key"] {
			t.Errorf("%s: the leaf is kept", annotation)
		}
		if before["ca.crt"] != after["ca.crt"] || !maps.Equal(secret(t, first, "webhookd-ca"), secret(t, renewed, "webhookd-ca")) {
			t.Errorf("%s: the CA is not kept", annotation)
		}
		if err := certificate(t, after["tls.crt"]).CheckSignatureFrom(certificate(t, before["ca.crt"])); err != nil {
			t.Errorf("%s: %v", annotation, err)
		}
		if at(t, object(t, renewed, "Secret", "webhookd-tls"), "metadata", "annotations", "webhookd.io/host") != host {
			t.Errorf("%s: the new leaf is not for %s", annotation, host)
		}
	}
}

// A leaf expires with its CA at the latest, so the alert about the leaf comes before that. An
// upgrade replaces an expired CA.
func TestHelmMakesNoLeafThatOutlivesItsCA(t *testing.T) {
	t.Parallel()
	first := render(t, nil, chart.NewCluster())
	ca := certificate(t, secret(t, first, "webhookd-tls")["ca.crt"])
	noted := at(t, object(t, first, "Secret", "webhookd-ca"), "metadata", "annotations", "webhookd.io/not-after")
	if want := ca.NotAfter.Unix(); noted != fmt.Sprint(want) && noted != fmt.Sprint(want-1) && noted != fmt.Sprint(want+1) {
		t.Errorf("the CA ends at %s, want %d", noted, want)
	}
	for name, left := range map[string]time.Duration{"ten days": 10 * 24 * time.Hour, "none": -time.Hour} {
		end := time.Now().Add(left)
		var secrets []map[string]any
		for _, o := range objects(t, first) {
			if o["kind"] != "Secret" {
				continue
			}
			annotations, _ := chart.Get(o, []string{"metadata", "annotations"})
			noted, _ := annotations.(map[string]any)
			for key, value := range map[string]string{"webhookd.io/not-after": fmt.Sprint(end.Unix()), "webhookd.io/renew-after": "1"} {
				if noted[key] != nil {
					noted[key] = value
				}
			}
			secrets = append(secrets, o)
		}
		r := render(t, nil, chart.NewCluster(secrets...))
		pair := secret(t, r, "webhookd-tls")
		leaf, same := certificate(t, pair["tls.crt"]), pair["ca.crt"] == secret(t, first, "webhookd-tls")["ca.crt"]
		if same != (left > 0) {
			t.Errorf("%s: the CA is the same: %t", name, same)
		}
		if same && leaf.NotAfter.After(end) {
			t.Errorf("%s: the leaf ends on %s, its CA on %s", name, leaf.NotAfter, end)
		}
		if got := strings.Contains(r["NOTES.txt"], "The CA and its leaves expire on "); got != same {
			t.Errorf("%s: the notes say that the CA expires: %t", name, got)
		}
	}
}

// The stanza has the CA of an existing Secret.
func TestNotesHaveTheCAOfTheSecret(t *testing.T) {
	t.Parallel()
	ca := base64.StdEncoding.EncodeToString([]byte("the CA"))
	for mode, name := range map[string]string{
		"existingSecret, existingSecret: mine": "mine", "certManager": "webhookd-cert", "selfManaged": "webhookd-self-managed",
	} {
		v := values(t, "tls: {mode: "+mode+"}")
		c := chart.NewCluster(map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": name, "namespace": chart.Namespace}, "data": map[string]any{"ca.crt": ca},
		})
		if notes := render(t, v, c)["NOTES.txt"]; !strings.Contains(notes, "caBundle: "+ca+"\n") {
			t.Errorf("%s: notes:\n%s", mode, notes)
		}
		notes := render(t, v, chart.NewCluster())["NOTES.txt"]
		if !strings.Contains(notes, "caBundle: # base64") || !strings.Contains(notes, "in the Secret "+name+" once") {
			t.Errorf("%s, without the Secret: notes:\n%s", mode, notes)
		}
	}
}
