package plane

import (
	"net"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Kube returns the administrator's client of what is built in.
func (p *Plane) Kube(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// ServiceAddress implements cluster.Cluster. The Service has no endpoints: its ClusterIP is an
// address of this machine.
func (p *Plane) ServiceAddress(t *testing.T, namespace, name string, port int32) string {
	t.Helper()
	key := namespace + "/" + name + ":" + strconv.Itoa(int(port))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addresses[key] == "" {
		p.addresses[key] = net.JoinHostPort(p.makeService(t, namespace, name, port), strconv.Itoa(int(port)))
	}
	return p.addresses[key]
}

// makeService returns the ClusterIP.
func (p *Plane) makeService(t *testing.T, namespace, name string, port int32) string {
	t.Helper()
	p.MakeNamespace(t, namespace, nil)
	service, err := p.Kube(t).CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: port}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return service.Spec.ClusterIP
}

// MakeNamespace makes a namespace with these labels, unless it is there.
func (p *Plane) MakeNamespace(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	_, err := p.Kube(t).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
