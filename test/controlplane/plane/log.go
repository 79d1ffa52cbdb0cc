package plane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serveLogs makes the object of the node, whose kubelet serves logs and nothing else.
func (n *Node) serveLogs(t *testing.T) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, n.logOf(r.PathValue("namespace"), r.PathValue("pod")))
	})
	kubelet := httptest.NewTLSServer(mux)
	t.Cleanup(kubelet.Close)
	address, ok := kubelet.Listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("not an address of TCP: %v", kubelet.Listener.Addr())
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.namespace}}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(address.Port) //nolint:gosec // a port
	if _, err := n.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// logOf is the file with what a pod has printed.
func (n *Node) logOf(namespace, pod string) string {
	return fmt.Sprintf("%s/%s-%s.log", n.plane.logs(), namespace, pod)
}

// bind tells the API server that a pod runs here.
func (n *Node) bind(ctx context.Context, pod *corev1.Pod) error {
	return n.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: n.namespace},
	}, metav1.CreateOptions{})
}

// confirmDeletion lets the API server delete a pod that has ended.
func (n *Node) confirmDeletion(ctx context.Context, pod *corev1.Pod) error {
	err := n.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
