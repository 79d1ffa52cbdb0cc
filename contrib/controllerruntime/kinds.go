package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/conversion"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	hubspoke "sigs.k8s.io/controller-runtime/pkg/conversion"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	"sigs.k8s.io/yaml"
)

// Kinds returns the kinds of the CRDs, made lossless. Each text is that of one
// CustomResourceDefinition, in YAML or JSON, as controller-gen writes it.
//
// The scheme has the Go types of all versions of the CRDs. As for controller-runtime's own handler,
// a converter of the registry converts a kind; without one, the type of one version implements
// controller-runtime's conversion.Hub, and the others implement conversion.Convertible. The
// registry may be nil.
//
// The hub of a kind is the version whose type implements conversion.Hub. If none does, which is
// possible only for a kind of the registry, it is the version that the CRD stores.
//
// Kinds fails without a scheme or a CRD, and if the types do not fit the CRDs. Its error has the
// problems of all CRDs.
func Kinds(scheme *runtime.Scheme, registry crwebhook.Registry, crds ...[]byte) ([]conversion.Kind, error) {
	if scheme == nil {
		return nil, errors.New("controllerruntime.Kinds: no scheme")
	}
	if len(crds) == 0 {
		return nil, errors.New("controllerruntime.Kinds: no CRDs")
	}
	var problems []error
	kinds := make([]conversion.Kind, 0, len(crds))
	for i, crd := range crds {
		kind, err := kindOf(scheme, registry, crd)
		if err != nil {
			problems = append(problems, fmt.Errorf("controllerruntime.Kinds: crds[%d]: %w", i, err))
			continue
		}
		kinds = append(kinds, kind)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if _, err := conversion.NewRegistry(kinds...); err != nil {
		return nil, fmt.Errorf("controllerruntime.Kinds: %w", err)
	}
	return kinds, nil
}

func kindOf(scheme *runtime.Scheme, registry crwebhook.Registry, text []byte) (conversion.Kind, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		return conversion.Kind{}, fmt.Errorf("cannot be read as a CustomResourceDefinition: %w", err)
	}
	if crd.Kind != "CustomResourceDefinition" || crd.Spec.Group == "" || crd.Spec.Names.Kind == "" {
		return conversion.Kind{}, errors.New("not a CustomResourceDefinition with a group and a kind")
	}
	t, err := typesOf(scheme, crd)
	if err != nil {
		return conversion.Kind{}, err
	}
	if registry != nil {
		t.converter, _ = registry.GetConverter(t.kind)
	}
	hub, err := t.hub(crd)
	if err != nil {
		return conversion.Kind{}, err
	}
	return conversion.Lossless(conversion.FromTypes(hub, t.versions, t.convert), text)
}

// types are the Go types of a kind.
type types struct {
	kind      schema.GroupKind
	versions  map[string]func() metav1.Object
	converter crwebhook.Converter // or nil, if the types convert themselves
}

// object is what a scheme must have for a custom resource.
type object interface {
	runtime.Object
	metav1.Object
}

// isResource reports whether a type embeds metav1.ObjectMeta, as [conversion.FromTypes] needs it.
func isResource(obj runtime.Object) bool {
	accessor, is := obj.(interface {
		object
		metav1.ObjectMetaAccessor
	})
	if !is {
		return false
	}
	_, is = accessor.GetObjectMeta().(*metav1.ObjectMeta)
	return is
}

// typesOf returns the types of all versions of a CRD.
func typesOf(scheme *runtime.Scheme, crd *apiextensionsv1.CustomResourceDefinition) (*types, error) {
	t := &types{
		kind:     schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		versions: make(map[string]func() metav1.Object, len(crd.Spec.Versions)),
	}
	if len(crd.Spec.Versions) < 2 {
		return nil, fmt.Errorf("a single version needs no conversion: %s", t.kind)
	}
	var missing, other []string
	for _, v := range crd.Spec.Versions {
		gvk := t.kind.WithVersion(v.Name)
		obj, err := scheme.New(gvk)
		if err != nil {
			missing = append(missing, v.Name)
			continue
		}
		if !isResource(obj) {
			other = append(other, fmt.Sprintf("%s (%T)", v.Name, obj))
			continue
		}
		t.versions[v.Name] = func() metav1.Object { return newObject(scheme, gvk) }
	}
	switch {
	case len(missing) > 0:
		return nil, fmt.Errorf("no Go type in the scheme for versions of %s, call their AddToScheme: %s", t.kind, strings.Join(missing, ", "))
	case len(other) > 0:
		return nil, fmt.Errorf("go types of %s without metadata, embed metav1.ObjectMeta: %s", t.kind, strings.Join(other, ", "))
	}
	return t, nil
}

// newObject returns an object with its apiVersion and kind, by which converters of a registry know
// its version.
func newObject(scheme *runtime.Scheme, gvk schema.GroupVersionKind) metav1.Object {
	obj, err := scheme.New(gvk)
	if err != nil {
		panic(err) // typesOf has found it
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj.(object) //nolint:forcetypeassert // typesOf has made sure
}

// hub returns the version that others convert to and from, if the types can convert.
func (t *types) hub(crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	var stored string
	var hubs, others []string
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			stored = v.Name
		}
		switch obj := t.versions[v.Name]().(type) {
		case hubspoke.Hub:
			hubs = append(hubs, v.Name)
		case hubspoke.Convertible:
		default:
			others = append(others, fmt.Sprintf("%s (%T)", v.Name, obj))
		}
	}
	switch {
	case len(hubs) > 1:
		return "", fmt.Errorf("several Go types of %s implement conversion.Hub, one of them must: %s", t.kind, strings.Join(hubs, ", "))
	case len(hubs) == 1 && (t.converter != nil || len(others) == 0):
		return hubs[0], nil
	case t.converter != nil && stored != "":
		return stored, nil
	case t.converter != nil:
		return "", fmt.Errorf("no version of %s has storage: true, correct the CRD", t.kind)
	case len(hubs) == 0:
		return "", fmt.Errorf("no Go type of %s implements conversion.Hub, and the registry has no converter of it", t.kind)
	}
	return "", fmt.Errorf("go types of %s implement neither conversion.Convertible nor conversion.Hub: %s", t.kind, strings.Join(others, ", "))
}

// convert fills dst from src, one of which is of the hub's type.
func (t *types) convert(ctx context.Context, src, dst metav1.Object) error {
	if t.converter != nil {
		return t.converter.ConvertObject(ctx, src.(object), dst.(object)) //nolint:forcetypeassert // newObject makes them
	}
	if hub, is := dst.(hubspoke.Hub); is {
		return src.(hubspoke.Convertible).ConvertTo(hub) //nolint:forcetypeassert // hub has made sure
	}
	return dst.(hubspoke.Convertible).ConvertFrom(src.(hubspoke.Hub)) //nolint:forcetypeassert // hub has made sure
}
