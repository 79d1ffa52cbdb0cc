package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/e2e/miniapi"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

var (
	objects = flag.Int("objects", 100, "the number of objects of TestVolume")                                                        //nolint:gochecknoglobals // a flag
	servers = flag.String("servers", "", "programs that TestVolume measures next to webhookd, separated by commas; see bench/peers") //nolint:gochecknoglobals // a flag
)

// TestVolume measures what it costs to read Machines of Cluster API, stored at v1beta2, at v1beta1:
// in a list without a watch cache, and when a new API server fills its watch cache.
// bench/results/volume.txt has results.
func TestVolume(t *testing.T) { //nolint:paralleltest // it measures
	m := machines(t)
	programs := []string{webhook.Build(t)}
	if *servers != "" {
		programs = append(programs, strings.Split(*servers, ",")...)
	}
	for i, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			var args []string
			if i == 0 {
				args = []string{"serve", "--rules", m.rules, "--crds", m.crdFile, "--admin-listen", "127.0.0.1:0"}
			}
			m.measure(t, startConverter(t, program, args...))
		})
	}
}

// A volume is a kind of many objects.
type volume struct {
	rules, crdFile string
	crd            *apiextensionsv1.CustomResourceDefinition
	object         *unstructured.Unstructured
}

func machines(t *testing.T) volume {
	t.Helper()
	kind := filepath.Join(webhook.Root(t), "testdata", "clusterapi", "machine")
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/cluster-api")
	download.Dir = filepath.Join(webhook.Root(t), "bench")
	out, err := download.Output()
	var module struct {
		Dir string `json:"Dir"`
	}
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil {
		t.Fatalf("find Cluster API's module: %v", err)
	}
	v := volume{rules: filepath.Join(kind, "rules.yaml"), crdFile: filepath.Join(module.Dir, "config", "crd", "bases", "cluster.x-k8s.io_machines.yaml")}
	for file, into := range map[string]any{v.crdFile: &v.crd, filepath.Join(kind, "plain.yaml"): &v.object} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	scenario.SetStorage(t, v.crd, "v1beta2")
	v.object.SetResourceVersion("")
	v.object.SetFinalizers(nil)
	return v
}

func (v volume) measure(t *testing.T, c *converter) {
	t.Helper()
	server := miniapi.Start(t, miniapi.Options{})
	e := &scenario.Env{Cluster: server, Reference: scenario.ByURL, Reviews: []string{"v1"}}
	r := e.Install(t, v.crd, c)
	for i := range *objects {
		v.object.SetName(fmt.Sprintf("machine-%d", i))
		server.Store(t, r.Plural, v.object)
	}
	measured(t, server, "listed", func() {
		var list struct {
			Items []struct{} `json:"items"`
		}
		text := read(t, server, "/apis/"+r.Group+"/v1beta1/"+r.Plural)
		if err := json.Unmarshal(text, &list); err != nil || len(list.Items) != *objects {
			t.Errorf("%d objects in the list, want %d (%v)", len(list.Items), *objects, err)
		}
	})
	t.Run("watch cache", func(t *testing.T) {
		cached := server.Another(t, miniapi.Options{WatchCache: true})
		measured(t, cached, "watch cache filled", func() {
			read(t, cached, "/apis/"+r.Group+"/v1beta2/"+r.Plural+"?limit=1")
			// Each look costs the API server some milliseconds.
			for range time.NewTicker(100 * time.Millisecond).C {
				if metrics(t, cached).Sum(conversions) >= float64(*objects) {
					break
				}
			}
		})
	})
}

// A converter is a server of conversions.
type converter struct {
	addr string
	ca   *tlstest.CA
}

func startConverter(t *testing.T, program string, args ...string) *converter {
	t.Helper()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &converter{addr: free.Addr().String(), ca: tlstest.NewCA(t, "volume")}
	free.Close()
	dir := filepath.Join(t.TempDir(), "tls")
	tlstest.WriteSecretDir(t, dir, c.ca.Issue(t, tlstest.Leaf{Hosts: []string{"127.0.0.1"}}).Files())
	cmd := exec.CommandContext(t.Context(), program, append(args, "--listen", c.addr, "--tls-dir", dir)...) //nolint:gosec // built by the caller
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context has killed it
	scenario.Succeeds(t, program+" to listen", func() error {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", c.addr)
		if err == nil {
			conn.Close()
		}
		return err
	})
	return c
}

// Addr and CA implement scenario.Target.
func (c *converter) Addr() string    { return c.addr }
func (c *converter) CA() *tlstest.CA { return c.ca }

// conversions is a metric of the API server.
const conversions = "apiserver_crd_conversion_webhook_duration_seconds_count"

// measured logs what do takes the API server, for each object.
func measured(t *testing.T, s *miniapi.Server, what string, do func()) {
	t.Helper()
	names := []string{conversions, "process_cpu_seconds_total", "go_memstats_alloc_bytes_total", "go_memstats_mallocs_total"}
	before, began := metrics(t, s), time.Now()
	do()
	took, after := time.Since(began), metrics(t, s)
	n := float64(*objects)
	per := make([]float64, len(names))
	for i, name := range names {
		per[i] = (after.Sum(name) - before.Sum(name)) / n
	}
	t.Logf("%s in %.1f s; for each object %.2f conversions, %.2f ms of the API server's CPU, %.0f bytes and %.0f allocations",
		what, took.Seconds(), per[0], per[1]*1000, per[2], per[3])
	if per[0] != 1 {
		t.Errorf("%s: %.2f conversions of each object, want 1", what, per[0])
	}
}

func metrics(t *testing.T, s *miniapi.Server) process.Metrics {
	t.Helper()
	return process.ParseMetrics(string(read(t, s, "/metrics")))
}

// read returns what the API server has at a path.
func read(t *testing.T, s *miniapi.Server, path string) []byte {
	t.Helper()
	config := s.Config()
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.Get().RequestURI(path).DoRaw(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}
