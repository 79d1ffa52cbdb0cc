package plane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
)

func (p *Plane) startEtcd(t *testing.T) {
	t.Helper()
	p.etcd = freePort(t)
	peers := "http://" + freePort(t)
	etcd := p.launch(t, "etcd", p.bin.Etcd, "--name=etcd", "--data-dir=etcd",
		"--listen-client-urls=http://"+p.etcd, "--advertise-client-urls=http://"+p.etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=etcd="+peers,
		"--unsafe-no-fsync", "--log-level=warn")
	etcd.await(t, func() error { return p.kv("range", keyValue{Key: []byte("any")}, nil) })
}

// A keyValue is a request to etcd, or a part of its answer.
type keyValue struct {
	Key   []byte `json:"key"` // in JSON both are base64
	Value []byte `json:"value,omitempty"`
}

// Stored implements cluster.Cluster.
func (p *Plane) Stored(t *testing.T, group, resource, namespace, name string) []byte {
	t.Helper()
	var answer struct {
		KVs []keyValue `json:"kvs"`
	}
	if err := p.kv("range", keyValue{Key: []byte(cluster.StoredKey(group, resource, namespace, name))}, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.KVs) == 0 {
		return nil
	}
	return answer.KVs[0].Value
}

// kv makes a call of etcd's JSON gateway.
func (p *Plane) kv(call string, in keyValue, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, "http://"+p.etcd+"/v3/kv/"+call, bytes.NewReader(body))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: HTTP %d: %s, %w", resp.StatusCode, text, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
