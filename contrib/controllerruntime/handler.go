package controllerruntime

import (
	"fmt"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// Handler returns a handler for a manager's /convert, in place of controller-runtime's own. It
// converts the [Kinds] of the same arguments, with the default limits of package webhook. It logs
// each review that fails to controller-runtime's log. It fails as Kinds does.
//
// Register it before the manager's webhooks are built, which otherwise register their own:
//
//	mgr.GetWebhookServer().Register("/convert", handler)
func Handler(scheme *runtime.Scheme, registry crwebhook.Registry, crds ...[]byte) (*webhook.Handler, error) {
	kinds, err := Kinds(scheme, registry, crds...)
	if err != nil {
		return nil, err
	}
	all, err := conversion.NewRegistry(kinds...)
	if err != nil {
		return nil, fmt.Errorf("controllerruntime.Handler: %w", err)
	}
	logger := log.Log.WithName("conversion-webhook")
	return webhook.New(all, webhook.Options{Failed: func(f webhook.Failure) {
		logger.Info("conversion failed", "uid", f.UID, "kind", f.Kind, "from", f.From, "to", f.To, "message", f.Message, "stack", f.Stack)
	}})
}
