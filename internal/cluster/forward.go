package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// forwardProtocol is that of kubectl port-forward.
const forwardProtocol = "portforward.k8s.io"

// Forward returns a function that connects to a port of a Service, through the API server and one
// of the Service's ready pods, as kubectl port-forward does. Each call is a connection of its own.
func (c *Client) Forward(ctx context.Context, namespace, service string, port int) (func(ctx context.Context) (net.Conn, error), error) {
	s, err := c.service(ctx, namespace, service, port)
	if err != nil {
		return nil, err
	}
	base, name := "/api/v1/namespaces/"+namespace, namespace+"/"+service
	if len(s.Spec.Selector) == 0 {
		return nil, fmt.Errorf("%s: no pods to forward to, the Service has no selector", name)
	}
	target, _ := targetPort(s.Spec.Ports, port)
	var pods corev1.PodList
	r := c.rest.Get().Param("labelSelector", labels.SelectorFromSet(s.Spec.Selector).String())
	if err := c.do(ctx, r, "list", base+"/pods", nil, &pods); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if number := portOf(p, target); isReady(p) && number > 0 {
			return func(ctx context.Context) (net.Conn, error) {
				return c.forward(ctx, base+"/pods/"+p.Name+"/portforward", number)
			}, nil
		}
	}
	return nil, fmt.Errorf("%s: no ready pod of the Service has its port", name)
}

// service reads a Service, and fails if it lacks a port.
func (c *Client) service(ctx context.Context, namespace, name string, port int) (*corev1.Service, error) {
	s := &corev1.Service{}
	if err := c.Get(ctx, "/api/v1/namespaces/"+namespace+"/services/"+name, s); err != nil {
		return nil, err
	}
	if _, found := targetPort(s.Spec.Ports, port); !found {
		return nil, fmt.Errorf("%s/%s: no port %d in the Service, correct it there or in spec.conversion of the CRD", namespace, name, port)
	}
	return s, nil
}

// ReadyEndpoints returns how many addresses of a Service are ready. It is an error if there is no
// such Service, or if it lacks the port.
func (c *Client) ReadyEndpoints(ctx context.Context, namespace, service string, port int) (int, error) {
	s, err := c.service(ctx, namespace, service, port)
	if err != nil {
		return 0, err
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return 1, nil // the name, which Kubernetes does not watch
	}
	var list discoveryv1.EndpointSliceList
	r := c.rest.Get().Param("labelSelector", discoveryv1.LabelServiceName+"="+service)
	if err := c.do(ctx, r, "list", "/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices", nil, &list); err != nil {
		return 0, err
	}
	ready := 0
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				ready += len(e.Addresses)
			}
		}
	}
	return ready, nil
}

// targetPort returns what a port of a Service leads to.
func targetPort(ports []corev1.ServicePort, port int) (intstr.IntOrString, bool) {
	for _, p := range ports {
		if int(p.Port) == port {
			return cmp.Or(p.TargetPort, intstr.FromInt(port)), true
		}
	}
	return intstr.IntOrString{}, false
}

func isReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// portOf returns the number of a port, 0 if the pod has no port of that name.
func portOf(p *corev1.Pod, target intstr.IntOrString) int {
	if target.Type == intstr.Int {
		return target.IntValue()
	}
	for i := range p.Spec.Containers {
		for _, port := range p.Spec.Containers[i].Ports {
			if port.Name == target.StrVal {
				return int(port.ContainerPort)
			}
		}
	}
	return 0
}

// forward connects to a port of a pod.
func (c *Client) forward(ctx context.Context, path string, port int) (net.Conn, error) {
	transport, upgrader, err := spdy.RoundTripperFor(rest.CopyConfig(c.config))
	if err != nil {
		return nil, err
	}
	u := c.rest.Post().AbsPath(path).URL()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	connection, _, err := spdy.NegotiateStreaming(upgrader, &http.Client{Transport: transport, Timeout: timeout}, q, forwardProtocol)
	if err != nil {
		return nil, c.notForwarded(path, err)
	}
	f, err := newForwarded(connection, port)
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("%s: cannot forward: %w", path, err)
	}
	return f, nil
}

// notForwarded returns the error of a port-forward, which has the API server's answer as text only.
func (c *Client) notForwarded(path string, err error) error {
	failed := c.failed("create", path, err)
	if strings.Contains(err.Error(), " is forbidden: ") {
		_, below, _ := strings.Cut(path, "/namespaces/")
		namespace, _, _ := strings.Cut(below, "/")
		failed = fmt.Errorf("%w\nallow create of pods/portforward, in a Role of the namespace %s", failed, namespace)
	}
	return failed
}

// A forwarded is a connection to a pod.
type forwarded struct {
	httpstream.Stream

	connection httpstream.Connection
	failure    chan error // the pod's, once the stream ends
}

func newForwarded(connection httpstream.Connection, port int) (*forwarded, error) {
	headers := http.Header{}
	headers.Set("port", strconv.Itoa(port))
	headers.Set("requestID", "0")
	headers.Set("streamType", "error")
	problems, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	_ = problems.Close() // nothing is written to it
	headers.Set("streamType", "data")
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	f := &forwarded{data, connection, make(chan error, 1)}
	go func() {
		text, err := io.ReadAll(problems)
		if len(text) > 0 {
			err = errors.New(string(text))
		}
		f.failure <- cmp.Or(err, io.EOF)
	}()
	return f, nil
}

// Read implements net.Conn. If the stream ends because the pod does not listen, the error says so.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.Stream.Read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		select {
		case err = <-f.failure:
		case <-time.After(time.Second):
		}
	}
	return n, err
}

// Close implements net.Conn.
func (f *forwarded) Close() error { return errors.Join(f.Reset(), f.connection.Close()) }

// LocalAddr implements net.Conn.
func (f *forwarded) LocalAddr() net.Addr { return forwardedAddr{} }

// RemoteAddr implements net.Conn.
func (f *forwarded) RemoteAddr() net.Addr { return forwardedAddr{} }

// SetDeadline implements net.Conn. Callers close the connection instead.
func (f *forwarded) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (f *forwarded) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (f *forwarded) SetWriteDeadline(time.Time) error { return nil }

type forwardedAddr struct{}

func (forwardedAddr) Network() string { return "tcp" }
func (forwardedAddr) String() string  { return "port-forward" }
