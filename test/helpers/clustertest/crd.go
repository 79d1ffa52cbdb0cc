package clustertest

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// StoredIn returns the version that an object is stored in: that of the CRD's storage version when
// it was written last.
func (s *Server) StoredIn(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored[path]
}

// Change changes an object behind the back of the clients.
func (s *Server) Change(tb testing.TB, path string, change func(*unstructured.Unstructured)) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Alter(path, change)
}

// Alter is Change for Before and Admit, while a request is handled.
func (s *Server) Alter(path string, change func(*unstructured.Unstructured)) {
	object := s.objects[path].DeepCopy()
	change(object)
	s.store(path, object)
}

// View calls a function with an object, if there is one, while a request is handled.
func (s *Server) View(path string, view func(*unstructured.Unstructured)) {
	if object := s.objects[path]; object != nil {
		view(object)
	}
}

// Remove is Delete while a request is handled.
func (s *Server) Remove(path string) { s.delete(path) }

// Paths returns the paths of the objects of a group and kind, while a request is handled.
func (s *Server) Paths(resource schema.GroupResource) []string {
	var paths []string
	for path := range s.objects {
		if parse(path).resource.GroupResource() == resource {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// StoredNow is StoredIn while a request is handled.
func (s *Server) StoredNow(path string) string { return s.stored[path] }

func (s *Server) delete(path string) {
	delete(s.objects, path)
	delete(s.stored, path)
}

// storageVersion returns the storage version of the CRD of an object, or "".
func (s *Server) storageVersion(path string) string {
	of := parse(path).resource
	crd := s.objects[crds+of.Resource+"."+of.Group]
	if crd == nil {
		return ""
	}
	for name, v := range versionsOf(crd) {
		if v["storage"] == true {
			return name
		}
	}
	return ""
}

func versionsOf(crd *unstructured.Unstructured) map[string]map[string]any {
	all := map[string]map[string]any{}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			name, _ := version["name"].(string)
			all[name] = version
		}
	}
	return all
}

// beforeStore sets what the API server sets of a CRD: the uid, the generation and the stored
// versions.
func (s *Server) beforeStore(path string, crd *unstructured.Unstructured) {
	if crd.GetKind() != "CustomResourceDefinition" {
		return
	}
	live := s.objects[path]
	if live == nil {
		if crd.GetUID() == "" {
			crd.SetUID(types.UID("uid-of-" + crd.GetName()))
		}
		crd.SetGeneration(max(crd.GetGeneration(), 1))
	} else if !reflect.DeepEqual(live.Object["spec"], crd.Object["spec"]) {
		crd.SetGeneration(live.GetGeneration() + 1)
	}
	stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	for name, v := range versionsOf(crd) {
		if v["storage"] == true && !slices.Contains(stored, name) {
			_ = unstructured.SetNestedStringSlice(crd.Object, append(stored, name), "status", "storedVersions")
		}
	}
}

// refuseVersions refuses a CRD that has a stored version no more.
func (s *Server) refuseVersions(crd *unstructured.Unstructured) *apierrors.StatusError {
	if crd.GetKind() != "CustomResourceDefinition" {
		return nil
	}
	stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	for _, name := range stored {
		if versionsOf(crd)[name] == nil {
			return apierrors.NewInvalid(crd.GroupVersionKind().GroupKind(), crd.GetName(), nil)
		}
	}
	return nil
}

// at returns the address of a custom resource at a version that its CRD serves.
func (s *Server) at(a address, version string) address {
	if crd := s.objects[crds+a.resource.Resource+"."+a.resource.Group]; crd != nil && versionsOf(crd)[version]["served"] == true {
		a.resource.Version = version
	}
	return a
}

// locate returns the path that an object of a CRD is kept at, whatever served version a path has.
func (s *Server) locate(path string) string {
	of := parse(path)
	crd := s.objects[crds+of.resource.Resource+"."+of.resource.Group]
	if crd == nil || of.name == "" || s.at(of, of.resource.Version) != of {
		return path
	}
	for version := range versionsOf(crd) {
		if other := strings.Replace(path, "/"+of.resource.Version+"/", "/"+version+"/", 1); s.objects[other] != nil {
			return other
		}
	}
	return path
}

// isDiscovery reports whether a path is /apis/GROUP/VERSION.
func isDiscovery(path string) bool { return parse(path).resource.Resource == "" }

// discover answers with the resources of a group and version.
func (s *Server) discover(path string) (any, *apierrors.StatusError) {
	of := parse(path).resource
	resources := []any{}
	for _, crd := range s.objects {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		if crd.GetKind() != "CustomResourceDefinition" || group != of.Group || versionsOf(crd)[of.Version]["served"] != true {
			continue
		}
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		hash := ""
		for name, v := range versionsOf(crd) {
			if v["storage"] == true && v["served"] == true {
				sum := sha256.Sum256([]byte(group + "/" + name + "/" + kind))
				hash = base64.StdEncoding.EncodeToString(sum[:8])
			}
		}
		resources = append(resources, map[string]any{"name": plural, "storageVersionHash": hash})
	}
	if len(resources) == 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, "")
	}
	return map[string]any{"kind": "APIResourceList", "resources": resources}, nil
}
