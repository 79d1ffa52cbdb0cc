package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// A crd is a CRD as it was read. Its versions are texts, so that nothing of them is lost when they
// are written back.
type crd struct {
	Metadata struct {
		Name              string                      `json:"name"`
		UID               types.UID                   `json:"uid"`
		Generation        int64                       `json:"generation"`
		ResourceVersion   string                      `json:"resourceVersion"`
		CreationTimestamp metav1.Time                 `json:"creationTimestamp"`
		DeletionTimestamp *metav1.Time                `json:"deletionTimestamp"`
		ManagedFields     []metav1.ManagedFieldsEntry `json:"managedFields"`
		OwnerReferences   []metav1.OwnerReference     `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Plural string `json:"plural"`
			Kind   string `json:"kind"`
		} `json:"names"`
		Conversion struct {
			Strategy string `json:"strategy"`
		} `json:"conversion"`
		Versions []json.RawMessage `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`

	versions []crdVersion
}

type crdVersion struct {
	Version

	Schema any `json:"schema"`
}

func readCRD(ctx context.Context, api *cluster.Client, name string) (*crd, error) {
	c := &crd{}
	if err := api.Get(ctx, crdwire.Path(name), c); err != nil {
		return nil, err
	}
	for _, text := range c.Spec.Versions {
		v := crdVersion{}
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("%s: cannot read spec.versions: %w", name, err)
		}
		c.versions = append(c.versions, v)
	}
	return c, nil
}

// state returns what the CRD says.
func (c *crd) state() *State {
	s := &State{Deleting: c.Metadata.DeletionTimestamp != nil, Stored: c.Status.StoredVersions}
	definition, _ := xrd.Owner(&metav1.ObjectMeta{OwnerReferences: c.Metadata.OwnerReferences})
	s.Definition = definition.Name
	for i, v := range c.versions {
		s.Versions = append(s.Versions, v.Version)
		differs := i > 0 && !reflect.DeepEqual(v.Schema, c.versions[0].Schema)
		s.Unconverted = s.Unconverted || differs && c.Spec.Conversion.Strategy != "Webhook"
	}
	return s
}

// is reports whether this is still the CRD that another one was.
func (c *crd) is(other *crd) bool {
	return c.Metadata.UID == other.Metadata.UID && c.Metadata.Generation == other.Metadata.Generation
}

// unchanged returns errChanged if the CRD is no longer as it was read.
func (c *crd) unchanged(ctx context.Context, api *cluster.Client) error {
	now, err := readCRD(ctx, api, c.Metadata.Name)
	if err == nil && !now.is(c) {
		err = errChanged
	}
	return err
}

// changed returns the time of the last change of the spec by managedFields; zero if that is not
// known.
func (c *crd) changed() time.Time {
	var last time.Time
	for _, e := range c.Metadata.ManagedFields {
		switch {
		case e.Subresource != "":
		case e.Time == nil:
			return time.Time{}
		case e.Time.After(last):
			last = e.Time.Time
		}
	}
	return last
}

// writers are the field managers that write the CRD, other than webhookd. The one of spec.versions
// loses it to webhookd when that sets the storage version, but keeps spec.group.
func (c *crd) writers() []string {
	var names []string
	for _, e := range c.Metadata.ManagedFields {
		var fields map[string]any
		if e.FieldsV1 != nil {
			_ = json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) // fields that cannot be read are none
		}
		_, ofGroup, _ := unstructured.NestedFieldNoCopy(fields, "f:spec", "f:group")
		_, ofVersions, _ := unstructured.NestedFieldNoCopy(fields, "f:spec", "f:versions")
		if (ofGroup || ofVersions) && !strings.HasPrefix(e.Manager, crdwire.ManagerWire) && !slices.Contains(names, e.Manager) {
			names = append(names, e.Manager)
		}
	}
	return names
}

// readAt returns the version to read and write objects at: the one that is stored, or if it is not
// served, the first that is.
func (c *crd) readAt() string {
	version := ""
	for _, v := range c.versions {
		if v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	return version
}

// path returns the path of the objects of a version, in a namespace or in all.
func (c *crd) path(version, namespace string) string {
	return cluster.CollectionPath(schema.GroupVersionResource{Group: c.Spec.Group, Version: version, Resource: c.Spec.Names.Plural}, namespace)
}

// setVersions changes spec.versions if the CRD has not changed since it was read. The function
// returns the changed members of a version, or false if the version goes.
func (c *crd) setVersions(ctx context.Context, api *cluster.Client, edit func(v Version) (map[string]bool, bool)) error {
	var versions []json.RawMessage
	for i, text := range c.Spec.Versions {
		members, stays := edit(c.versions[i].Version)
		if !stays {
			continue
		}
		var version map[string]json.RawMessage
		if err := json.Unmarshal(text, &version); err != nil {
			return err // it could be read before
		}
		for name, value := range members {
			version[name] = fmt.Append(nil, value)
		}
		changed, err := marshal(version)
		if err != nil {
			return err
		}
		versions = append(versions, changed)
	}
	return api.MergePatch(ctx, crdwire.Path(c.Metadata.Name), map[string]any{
		"metadata": map[string]any{"resourceVersion": c.Metadata.ResourceVersion},
		"spec":     map[string]any{"versions": versions},
	}, nil)
}

// setStored sets status.storedVersions if the CRD has not changed since it was read.
func (c *crd) setStored(ctx context.Context, api *cluster.Client, versions ...string) error {
	return api.MergePatch(ctx, crdwire.Path(c.Metadata.Name)+"/status", map[string]any{
		"metadata": map[string]any{"resourceVersion": c.Metadata.ResourceVersion, "uid": c.Metadata.UID},
		"status":   map[string]any{"storedVersions": versions},
	}, nil)
}

func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return text.Bytes(), err
}
