package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Install creates a CRD whose conversion refers to w, waits until each served version answers, and
// at the end of the test deletes it with its objects and waits until it is gone. A webhookd that is
// broken by then keeps objects, and so the CRD, from being deleted: a scenario repairs what it
// broke.
func (e *Env) Install(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, w Target) *Resource {
	t.Helper()
	if e.rules != nil {
		e.rules.knows(t, crd)
	}
	crd = crd.DeepCopy()
	crd.Spec.Conversion = e.Conversion(w.Addr(), w.CA().PEM)
	crds := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create the CRD: %v", err)
	}
	// Not the test's own context, which ends before the cleanups.
	ctx := context.WithoutCancel(t.Context())
	r := e.resource(t, crd)
	t.Cleanup(func() {
		if err := e.uninstall(ctx, t, r); err != nil {
			t.Errorf("the CRD is not deleted: %v", err)
		}
	})
	for _, version := range servedVersions(crd) {
		Succeeds(t, "a list of "+r.Name+" at "+version, func() error {
			_, err := r.At(version).List(t.Context(), metav1.ListOptions{Limit: 1})
			return err
		})
	}
	return r
}

func (e *Env) uninstall(ctx context.Context, t *testing.T, r *Resource) error {
	t.Helper()
	// The API server would do this as well, and then look for five seconds whether it is done.
	// Where it fails here, it may be that the version is not served any more.
	_ = r.At(r.Storage).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	crds := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions()
	if err := crds.Delete(ctx, r.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return retry(Patience, func() error {
		crd, err := crds.Get(ctx, r.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.Terminating {
				return fmt.Errorf("terminating: %s", c.Message)
			}
		}
		return errors.New("it is there still")
	})
}

// markerColumn is a column that kubectl shows with -o wide only. Its description says which change
// of the CRD it came with.
const markerColumn = "Served"

// UpdateCRD changes a CRD, again where another change came between, and waits until the API server
// serves it so: that is when its tables have a column that came with the change. What a watch or a
// call in progress sees meanwhile is the old or the new.
func (e *Env) UpdateCRD(t *testing.T, name string, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	crds := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions()
	marker := "since change " + string(uuid.NewUUID())
	var crd *apiextensionsv1.CustomResourceDefinition
	err := retry(Patience, func() (err error) {
		if crd, err = crds.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		change(crd)
		mark(crd, marker)
		if crd, err = crds.Update(t.Context(), crd, metav1.UpdateOptions{}); apierrors.IsInvalid(err) {
			t.Fatalf("change the CRD: %v", err)
		}
		return err
	})
	if err != nil {
		t.Fatalf("change the CRD: %v", err)
	}
	r := e.resource(t, crd)
	Succeeds(t, "the changed CRD to be served", func() error {
		// No object has this name, so that nothing needs a conversion.
		table, err := r.Table(t, servedVersions(crd)[0], "?fieldSelector=metadata.name%3Dnone-has-this-name")
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Description == marker }) {
			return errNotYet
		}
		return nil
	})
}

// mark gives each version of a CRD the column that tells that it is served.
func mark(crd *apiextensionsv1.CustomResourceDefinition, description string) {
	column := apiextensionsv1.CustomResourceColumnDefinition{
		Name: markerColumn, Type: "date", JSONPath: ".metadata.creationTimestamp", Priority: 1, Description: description,
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		v.AdditionalPrinterColumns = append(slices.DeleteFunc(v.AdditionalPrinterColumns,
			func(c apiextensionsv1.CustomResourceColumnDefinition) bool { return c.Name == markerColumn }), column)
	}
}

// Resource returns the resource of a CRD that is installed already.
func (e *Env) Resource(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *Resource {
	t.Helper()
	return e.resource(t, crd)
}
