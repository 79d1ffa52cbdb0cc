package apiclient

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// The Service that a CRD refers to. Its certificate has to be for ServiceHost.
const (
	serviceName      = "webhookd"
	serviceNamespace = "crdconvert"
	servicePort      = 443

	ServiceHost = serviceName + "." + serviceNamespace + ".svc"
)

// A Hook is what spec.conversion.webhook of a CRD says. Without a URL it refers to the Service.
type Hook struct {
	URL      string
	Path     string // of the Service
	CABundle []byte
	Reviews  []string // conversionReviewVersions
}

func (h *Hook) clientConfig() *apiextensionsv1.WebhookClientConfig {
	if h.URL != "" {
		return &apiextensionsv1.WebhookClientConfig{URL: &h.URL, CABundle: h.CABundle}
	}
	port := int32(servicePort)
	return &apiextensionsv1.WebhookClientConfig{
		CABundle: h.CABundle,
		Service: &apiextensionsv1.ServiceReference{
			Namespace: serviceNamespace, Name: serviceName, Path: &h.Path, Port: &port,
		},
	}
}
