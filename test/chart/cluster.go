package chart

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// A Cluster answers the look-ups of templates.
type Cluster struct {
	// Version is that of Kubernetes, such as v1.36.0; empty means v1.36.0.
	Version string

	objects []*unstructured.Unstructured
}

// NewCluster returns a Cluster with the objects.
func NewCluster(objects ...map[string]any) *Cluster {
	c := &Cluster{}
	for _, object := range objects {
		c.objects = append(c.objects, &unstructured.Unstructured{Object: object})
	}
	return c
}

// GetClientFor implements engine.ClientProvider.
func (c *Cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return resources{cluster: c, gvk: schema.FromAPIVersionAndKind(apiVersion, kind)}, true, nil
}

// resources are the objects of one kind. It implements only getting one and listing all, which is
// all that templates do.
type resources struct {
	dynamic.NamespaceableResourceInterface

	cluster   *Cluster
	gvk       schema.GroupVersionKind
	namespace string
}

func (r resources) Namespace(namespace string) dynamic.ResourceInterface {
	r.namespace = namespace
	return r
}

func (r resources) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	for _, object := range r.cluster.objects {
		if object.GroupVersionKind() == r.gvk && object.GetNamespace() == r.namespace && object.GetName() == name {
			return object.DeepCopy(), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.gvk.Group, Resource: r.gvk.Kind}, name)
}

func (r resources) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
	for _, object := range r.cluster.objects {
		if object.GroupVersionKind() == r.gvk && object.GetNamespace() == r.namespace {
			list.Items = append(list.Items, *object.DeepCopy())
		}
	}
	return list, nil
}
