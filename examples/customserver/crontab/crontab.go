// Package crontab converts the CronTab of the Kubernetes documentation, and of its conformance tests: hostPort in the one
// version is host and port in the other. It is the smallest complete converter over jsondoc; copy it to start one.
package crontab

import (
	"context"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Kind returns the CronTab of a group: version joined has hostPort, version parted, the hub, has host and port. What one of
// them cannot say is kept.
func Kind(group, joined, parted string) converters.Kind {
	kind := converters.Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: "CronTab"},
		Hub:       parted,
		Versions:  []string{joined, parted},
		Schemas:   map[string]*crdschema.Node{joined: with("hostPort"), parted: with("host", "port")},
		Converter: converters.Exact(func(_ context.Context, obj *jsondoc.Object, from, _ string) (exact bool, err error) {
			if from == joined {
				return convert(obj, split, join)
			}
			return convert(obj, join, split)
		}),
	}
	return converters.Lossless(kind, converters.Unit{joined: {{"hostPort"}}, parted: {{"host"}, {"port"}}})
}

// with returns what a version may be that has some fields, all of them text or null. A CRD may have others beside them, and in spec,
// which are copied.
func with(fields ...string) *crdschema.Node {
	text := ofType("string")
	spec := open(map[string]structural.Structural{"cronSpec": text, "image": text, "replicas": ofType("integer")})
	properties := map[string]structural.Structural{"spec": spec}
	for _, name := range fields {
		properties[name] = text
	}
	all := open(properties)
	return crdschema.NewNode(&all)
}

func open(properties map[string]structural.Structural) structural.Structural {
	s := ofType("object")
	s.Properties, s.XPreserveUnknownFields = properties, true
	return s
}

func ofType(name string) structural.Structural {
	return structural.Structural{Generic: structural.Generic{Type: name, Nullable: true}}
}

// convert is the same in both directions: there converts, back is its inverse as far as there is one.
func convert(obj *jsondoc.Object, there, back func(fields) fields) (exact bool, err error) {
	was, err := read(obj)
	if err != nil {
		return false, err
	}
	now := there(was)
	return back(now) == was, write(obj, was, now)
}

// split parts hostPort into host and port. A text that is not of the form host:port, or [host]:port for a host with colons
// such as an IPv6 address, is a host alone, so join gives every text again.
func split(f fields) fields {
	if f.hostPort.kind != jsondoc.String {
		return fields{host: f.hostPort.onlyNull()}
	}
	colon := strings.LastIndexByte(f.hostPort.text, ':')
	if colon < 0 {
		return fields{host: f.hostPort}
	}
	host, port := f.hostPort.text[:colon], f.hostPort.text[colon+1:]
	if strings.Contains(host, ":") {
		inner, bracketed := strings.CutPrefix(host, "[")
		if host = strings.TrimSuffix(inner, "]"); !bracketed || host == inner {
			return fields{host: f.hostPort}
		}
	}
	return fields{host: str(host), port: str(port)}
}

// join makes one text of host and port. Split does not part each such text as it was: a port with a colon, a host that
// looks like host:port, a port alone.
func join(f fields) fields {
	host, port := f.host.text, f.port.text
	switch {
	case f.port.isText() && strings.Contains(host, ":") && f.host.isText():
		return fields{hostPort: str("[" + host + "]:" + port)}
	case f.port.isText() && f.host.isText():
		return fields{hostPort: str(host + ":" + port)}
	case f.port.isText():
		return fields{hostPort: str(":" + port)}
	case f.host.isText():
		return fields{hostPort: str(host)}
	case f.host.kind == jsondoc.Null || f.port.kind == jsondoc.Null:
		return fields{hostPort: field{kind: jsondoc.Null, text: "null"}}
	}
	return fields{}
}
