package crdguard

import (
	_ "embed"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

var (
	//go:embed policies/conversion.yaml
	conversionYAML string
	//go:embed policies/conversionxrd.yaml
	conversionXRDYAML string
	//go:embed policies/conversionvalidate.yaml
	conversionValidateYAML string
	//go:embed policies/conversionrestore.yaml
	conversionRestoreYAML string
)

// Conversion returns, as YAML, the guard of spec.conversion of a CRD that has a webhook: a policy
// and its binding. It covers updates of the CRD and, if Crossplane makes it, of its XRD, which drop
// spec.conversion, point it at another webhook or remove the CA, while more than one version is
// served or stored. Other changes pass, such as another CA, and pointing it at Options.Webhook: an
// update may repair what points elsewhere. A CRD that an API server would refuse is an error.
func Conversion(crd *apiextensionsv1.CustomResourceDefinition, o Options) ([]byte, error) {
	kind, err := kindOf(crd)
	if err != nil {
		return nil, err
	}
	name := kind.plural + "." + kind.group
	webhook := ""
	if o.Webhook != "" {
		webhook = ", " + literal(o.Webhook)
	}
	ofXRD := ""
	if owner, is := xrd.Owner(crd); is && len(validation.IsDNS1123Subdomain(owner.Name)) == 0 {
		ofXRD = strings.ReplaceAll(conversionXRDYAML, "$xrd", literal(owner.Name))
	}
	comment := "Refuses an update that drops or damages spec.conversion while more than one version is in use."
	policy, reinvocation, denial, action := "ValidatingAdmissionPolicy", "", "  validationActions: [Deny]\n", conversionValidateYAML
	if o.Mode == Restore {
		comment = "Puts spec.conversion back if an update drops or damages it while more than one version is in use."
		policy, reinvocation, denial, action = "MutatingAdmissionPolicy", "  reinvocationPolicy: IfNeeded\n", "", conversionRestoreYAML
	}
	return []byte(strings.NewReplacer(
		"$comment", comment, "$kind", policy, "$name", "webhookd-conversion."+name, "$crd", literal(name), "$xrd", ofXRD, "$webhook", webhook,
		"$reinvocation", reinvocation, "$allowed", outsideOf(o.AllowGroup), "$action", action, "$denial", denial,
	).Replace(conversionYAML)), nil
}

// outsideOf returns the match condition that lets a group pass.
func outsideOf(group string) string {
	if group == "" {
		return ""
	}
	outside := "!(" + literal(group) + " in request.userInfo.?groups.orValue([]))"
	return strings.ReplaceAll(allowedYAML, "$outside", literal(outside))
}
