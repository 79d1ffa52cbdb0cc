package crdwire

import "maps"

// injectors are the programs that fill in the caBundle of a CRD with an annotation: see
// https://cert-manager.io/docs/concepts/ca-injector and the service CA operator of OpenShift.
func injectors() map[string]string {
	return map[string]string{
		"cert-manager.io/inject-ca-from":            "cert-manager's cainjector",
		"cert-manager.io/inject-ca-from-secret":     "cert-manager's cainjector",
		"cert-manager.io/inject-apiserver-ca":       "cert-manager's cainjector",
		"service.beta.openshift.io/inject-cabundle": "OpenShift's service CA operator",
	}
}

// injector returns what annotations of a CRD ask to fill in the caBundle, and by which one.
func injector(annotations map[string]string) (by, annotation string) {
	for annotation, by := range injectors() {
		if annotations[annotation] != "" {
			return by, annotation
		}
	}
	return "", ""
}

// keepInjectors removes all other annotations.
func keepInjectors(annotations map[string]string) {
	known := injectors()
	maps.DeleteFunc(annotations, func(name, _ string) bool { return known[name] == "" })
}
