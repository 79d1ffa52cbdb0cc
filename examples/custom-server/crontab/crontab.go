// Package crontab converts the CronTab of the Kubernetes documentation and conformance tests:
// hostPort in one version is host and port in the other. It is the smallest converter over the text
// of an object, and a model to copy.
package crontab

import (
	"context"
	"errors"
	"strings"

	"github.com/crdconvert/webhookd/conversion"
)

// Kind returns the CronTab of a CRD in which the version joined has hostPort, and the stored
// version has host and port. Values that the other version cannot express are kept.
func Kind(crd []byte, joined string) (conversion.Kind, error) {
	return conversion.Lossless(conversion.Func(func(_ context.Context, obj *conversion.Object, from, _ string) error {
		if from == joined {
			return part(obj)
		}
		return join(obj)
	}), crd)
}

// part makes host and port of hostPort.
func part(obj *conversion.Object) error {
	hostPort, err := obj.Get("hostPort")
	if err != nil {
		return err
	}
	text, is := hostPort.Text()
	host, port, found := split(text)
	switch {
	case found:
		err = errors.Join(obj.Set(host, "host"), obj.Set(port, "port"))
	case is:
		err = obj.Set(host, "host")
	case hostPort.Type() == conversion.Null:
		err = obj.Set(nil, "host")
	}
	return errors.Join(err, obj.Delete("hostPort")) // anything else is kept
}

// join makes hostPort of host and port.
func join(obj *conversion.Object) error {
	hostNode, errHost := obj.Get("host")
	portNode, errPort := obj.Get("port")
	if err := errors.Join(errHost, errPort); err != nil {
		return err
	}
	host, hasHost := hostNode.Text()
	port, hasPort := portNode.Text()
	var err error
	switch {
	case hasPort && strings.Contains(host, ":"):
		err = obj.Set("["+host+"]:"+port, "hostPort")
	case hasPort:
		err = obj.Set(host+":"+port, "hostPort")
	case hasHost:
		err = obj.Set(host, "hostPort")
	case hostNode.Type() == conversion.Null:
		err = obj.Set(nil, "hostPort")
	}
	return errors.Join(err, obj.Delete("host"), obj.Delete("port"))
}

// split splits host:port, or [host]:port for a host with colons such as an IPv6 address. Any other
// text is only a host, so join restores every text.
func split(text string) (host, port string, found bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return text, "", false
	}
	host, port = text[:colon], text[colon+1:]
	if !strings.Contains(host, ":") {
		return host, port, true
	}
	inner, opened := strings.CutPrefix(host, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return text, "", false
	}
	return inner, port, true
}
