package miniapi

import (
	"context"
	"net/url"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
)

// An etcd is an etcd in this process, with a client that needs no network.
type etcd struct {
	client *clientv3.Client
	url    string
}

func startEtcd(t *testing.T) *etcd {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.UnsafeNoFsync = true
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// It logs errors when it is closed in order.
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		t.Fatalf("etcd ended: %v", err)
	case <-time.After(patience):
		t.Fatal("etcd is not ready")
	}
	return &etcd{client: v3client.New(server.Server), url: "http://" + server.Clients[0].Addr().String()}
}

// Compact has etcd forget all that is not present, as the API server does every five minutes.
func (s *Server) Compact(t *testing.T) {
	t.Helper()
	resp, err := s.etcd.client.Get(t.Context(), "/")
	if err != nil {
		t.Fatalf("read etcd: %v", err)
	}
	if _, err := s.etcd.client.Compact(t.Context(), resp.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatalf("compact etcd: %v", err)
	}
}

// Store puts an object of a custom resource into etcd as it is, and takes it away when the test
// has ended.
func (s *Server) Store(t *testing.T, resource string, u *unstructured.Unstructured) {
	t.Helper()
	text, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	key := cluster.StoredKey(u.GroupVersionKind().Group, resource, u.GetNamespace(), u.GetName())
	if _, err := s.etcd.client.Put(t.Context(), key, string(text)); err != nil {
		t.Fatalf("write to etcd: %v", err)
	}
	t.Cleanup(func() {
		if _, err := s.etcd.client.Delete(context.WithoutCancel(t.Context()), key); err != nil {
			t.Errorf("write to etcd: %v", err)
		}
	})
}
