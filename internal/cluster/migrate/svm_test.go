package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/migrate"
)

const svmPath = "/apis/storagemigration.k8s.io/v1/storageversionmigrations/webhookd-" + name

// controller does what the controller of StorageVersionMigration does, before each request.
func (w *world) controller(condition string) {
	w.Groups = map[string]bool{"storagemigration.k8s.io/v1": true}
	done := false
	w.on(func(int64, string, string) *apierrors.StatusError {
		w.View(svmPath, func(svm *unstructured.Unstructured) {
			if done || svm.GetAnnotations()["webhookd.io/crd-generation"] == "another/1" {
				return
			}
			conditions := []any{map[string]any{"type": condition, "status": "True", "message": "because"}}
			w.Alter(svmPath, func(svm *unstructured.Unstructured) {
				_ = unstructured.SetNestedSlice(svm.Object, conditions, "status", "conditions")
			})
			if condition != "Succeeded" {
				return
			}
			done = true
			for _, p := range w.Paths(resource) {
				w.Alter(p, func(*unstructured.Unstructured) {})
			}
			w.Alter(crdPath, func(crd *unstructured.Unstructured) {
				_ = unstructured.SetNestedStringSlice(crd.Object, []string{"v1"}, "status", "storedVersions")
			})
		})
		return nil
	})
}

func TestTheControllerMigrates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.controller("Succeeded")
		// One of an earlier generation is not taken for this one.
		w.Put(t, svmPath, "webhookd", `{"apiVersion":"storagemigration.k8s.io/v1","kind":"StorageVersionMigration","metadata":{"name":"webhookd-`+name+`",
			"annotations":{"webhookd.io/crd-generation":"another/1"}}}`)
		if err := w.run(t, t.Context(), migrate.Goal{To: "v1"}); err != nil {
			t.Fatal(err)
		}
		for _, request := range []string{"delete " + svmPath, "create " + strings.TrimSuffix(svmPath, "/webhookd-"+name)} {
			if !slices.Contains(w.Requests(), request) {
				t.Errorf("no %s", request)
			}
		}
		for _, request := range w.Requests() {
			if strings.HasPrefix(request, "patch /apis/example.com") {
				t.Errorf("it wrote an object: %s", request)
			}
		}
	})
}

func TestTheControllerFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.controller("Failed")
		err := w.run(t, t.Context(), migrate.Goal{To: "v1"})
		if err == nil || !strings.Contains(err.Error(), "failed, correct that and run this again, or with --rewrite: because") {
			t.Errorf("%v", err)
		}
		if err := w.run(t, t.Context(), migrate.Goal{To: "v1", Rewrite: true}); err != nil {
			t.Error(err)
		}
	})
}

// A controller that does not begin, or comes to an object that it cannot write and tries it for
// ever, is not waited for. The run then names the object, or writes all.
func TestTheControllerDoesNotGetOn(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]map[string]any{
		"absent": {"type": "Pending", "status": "True"},
		"stuck":  {"type": "Running", "status": "True", "message": "The migration is running; transient error: conversion webhook failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.Groups = map[string]bool{"storagemigration.k8s.io/v1": true}
				w.on(func(int64, string, string) *apierrors.StatusError {
					w.View(svmPath, func(*unstructured.Unstructured) {
						w.Alter(svmPath, func(svm *unstructured.Unstructured) {
							_ = unstructured.SetNestedSlice(svm.Object, []any{condition}, "status", "conditions")
						})
					})
					return nil
				})
				if err := w.run(t, t.Context(), goal); err != nil {
					t.Fatal(err)
				}
				w.on(nil)
				w.done(t)
			})
		})
	}
}

// Earlier versions of the API do not set status.storedVersions.
func TestOnlyEarlierMigrations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Groups = map[string]bool{"storagemigration.k8s.io/v1beta1": true, "storagemigration.k8s.io/v1alpha1": true}
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(w.Requests(), func(r string) bool { return strings.Contains(r, "/storageversionmigrations") }); i >= 0 {
		t.Errorf("%s", w.Requests()[i])
	}
	w.done(t)
}

func TestWithoutTheRightToMigrate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Groups = map[string]bool{"storagemigration.k8s.io/v1": true}
	w.on(func(_ int64, _, at string) *apierrors.StatusError {
		if strings.HasPrefix(at, "/apis/storagemigration.k8s.io/v1/") {
			return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
		}
		return nil
	})
	if err := w.run(t, t.Context(), goal); err != nil {
		t.Fatal(err)
	}
	w.on(nil)
	w.done(t)
}

// An API server that does not know the storage version yet is waited for, and no object is written
// before.
func TestAnAPIServerLags(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		lagging, wrote := 3, false
		w.on(func(_ int64, verb, at string) *apierrors.StatusError {
			switch {
			case at == "/apis/example.com/v1" && lagging > 0:
				lagging--
				return apierrors.NewNotFound(schema.GroupResource{}, "")
			case verb == "patch" && strings.Contains(at, "/crontabs/"):
				wrote = true
				if lagging > 0 {
					t.Error("an object was written too early")
				}
			}
			return nil
		})
		if err := w.run(t, t.Context(), goal); err != nil {
			t.Fatal(err)
		}
		if lagging > 0 || !wrote {
			t.Error("it has not waited")
		}
		w.on(nil)
		w.done(t)
	})
}
