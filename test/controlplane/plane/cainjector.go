package plane

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// StartCAInjector runs cert-manager's CA injector for CRDs, in this process, as cert-manager has no
// command for it that can be imported. The kinds of cert-manager have to be there. It ends with the
// test, and belongs into one test at a time, as its logger is the process's.
func (p *Plane) StartCAInjector(t *testing.T) {
	t.Helper()
	log, err := os.Create(filepath.Join(p.logs(), "cainjector.log"))
	if err != nil {
		t.Fatal(err)
	}
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log))))
	config := rest.CopyConfig(p.Config())
	config.UserAgent = "cert-manager-cainjector/any" // what is before the slash is the field manager
	manager, err := newCAInjector(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("CA injector: %v", err)
		}
		_ = log.Close() // the injector is gone
	})
}

// newCAInjector does what the main of cert-manager's own does.
func newCAInjector(ctx context.Context, config *rest.Config) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		// Of Secrets the injector watches the metadata alone, so a cache of the data would be
		// behind.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{new(corev1.Secret)}}},
	})
	if err != nil {
		return nil, err
	}
	return manager, cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor:        map[string]bool{cainjector.CustomResourceDefinitionName: true},
	})
}
