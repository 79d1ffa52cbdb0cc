// Package crontab converts the CronTab of the Kubernetes documentation, and of its conformance tests: hostPort in the one
// version is host and port in the other. It is the smallest complete converter over jsondoc; copy it to start one.
package crontab

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Kind returns the CronTab of a group: version joined has hostPort, version parted, the hub, has host and port.
func Kind(group, joined, parted string) converters.Kind {
	return converters.Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: "CronTab"},
		Hub:       parted,
		Versions:  []string{joined, parted},
		Converter: converters.Func(func(_ context.Context, obj *jsondoc.Object, from, to string) error {
			if from == joined {
				return convert(obj, from, to, split, join)
			}
			return convert(obj, from, to, join, split)
		}),
	}
}

// convert is the same in both directions: there converts, back is its inverse as far as there is one. What does not come
// back is kept in a stash, and what was kept counts as long as it converts to what the object says now, so an edit wins.
func convert(obj *jsondoc.Object, from, to string, there, back func(fields) fields) error {
	was, err := read(obj)
	if err != nil {
		return err
	}
	stash, err := converters.TakeStash(obj, from, to)
	if err != nil {
		return err
	}
	now := there(was)
	if stash != nil {
		if kept, err := read(stash); err == nil && back(kept) == was {
			now = kept
		}
	}
	if err := write(obj, was, now); err != nil {
		return err
	}
	if back(now) == was {
		return nil
	}
	if stash, err = jsondoc.ParseObject([]byte("{}")); err != nil {
		return err
	}
	if err := write(stash, fields{}, was); err != nil {
		return err
	}
	return converters.PutStash(obj, from, stash)
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
