package crdschema

import (
	"crypto/sha256"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A CRD has what webhookd needs of a CustomResourceDefinition.
type CRD struct {
	// Name is the name of the CRD itself: PLURAL.GROUP.
	Name string
	// Group, Kind and Plural name the resource.
	Group, Kind, Plural string
	// Namespaced means that objects are in namespaces.
	Namespaced bool
	// Versions are all versions, in the order of the CRD.
	Versions []*Version
	// Digest identifies the spec, apart from the webhook that it points at.
	Digest [sha256.Size]byte
	// File and Line are where the CRD begins; lines count from 1.
	File string
	Line int
}

// A Version is one version of a CRD and its schema.
type Version struct {
	// Name is such as v1beta1.
	Name string
	// Served and Storage are as the CRD says.
	Served, Storage bool
	// Deprecated says that clients of the version are warned, with Warning unless that is empty.
	Deprecated bool
	Warning    string
	// Unshown are the paths of the scale subresource and of printer columns that the schema lacks,
	// such as `column Age .spec.age`.
	Unshown []string
	// Root is the schema of a whole object, with apiVersion, kind and metadata as every object has
	// them.
	Root *Node
	// Line is where the version begins in the CRD's file.
	Line int
	// Strategy is that of the API server, or nil if Parse had no NewStrategy.
	Strategy

	group, kind string
}

// GroupKind returns the group and kind of the objects.
func (c *CRD) GroupKind() schema.GroupKind { return schema.GroupKind{Group: c.Group, Kind: c.Kind} }

// VersionNames returns the names of all versions, in the order of the CRD.
func (c *CRD) VersionNames() []string {
	names := make([]string, 0, len(c.Versions))
	for _, v := range c.Versions {
		names = append(names, v.Name)
	}
	return names
}

// Version returns the version of a name, or nil if there is none.
func (c *CRD) Version(name string) *Version {
	if c == nil {
		return nil
	}
	for _, v := range c.Versions {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// GroupVersionKind returns the apiVersion and kind of the version's objects.
func (v *Version) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: v.group, Version: v.Name, Kind: v.kind}
}
