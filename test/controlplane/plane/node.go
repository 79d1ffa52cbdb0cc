package plane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// A Node runs the pods of a namespace as processes of one program, as there is no kubelet: with
// their arguments, the files of their volumes and the token of their ServiceAccount. Like a kubelet
// it waits for what a volume lacks, follows changes, and tells the API server what has become of a
// pod and serves its log. Of a pod that serves there can be one at a time: it listens on the
// ClusterIP of the Service that selects it.
type Node struct {
	plane     *Plane
	client    kubernetes.Interface
	namespace string
	program   string
	dir       string

	stop context.CancelFunc
	done chan struct{}

	pods map[types.UID]*runningPod // of the loop alone

	mu     sync.Mutex
	failed []error
}

// StartNode starts a node for the pods of a namespace. It ends with the test.
func (p *Plane) StartNode(t *testing.T, namespace, program string) *Node {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	n := &Node{
		plane: p, client: p.Kube(t), namespace: namespace, program: program, dir: t.TempDir(),
		stop: stop, done: make(chan struct{}), pods: make(map[types.UID]*runningPod),
	}
	n.serveLogs(t)
	go n.run(ctx)
	t.Cleanup(func() {
		n.stop()
		<-n.done
		n.mu.Lock()
		defer n.mu.Unlock()
		if err := errors.Join(n.failed...); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	return n
}

// run ends with ctx, and all pods with it.
func (n *Node) run(ctx context.Context) {
	defer close(n.done)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, r := range n.pods {
				n.note(r.end())
			}
			return
		case <-ticker.C:
			if err := n.sync(ctx); err != nil && ctx.Err() == nil {
				n.note(err)
			}
		}
	}
}

func (n *Node) note(err error) {
	if err == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.failed) < 10 {
		n.failed = append(n.failed, err)
	}
}

// sync looks at all pods once.
func (n *Node) sync(ctx context.Context) error {
	list, err := n.client.CoreV1().Pods(n.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	there := make(map[types.UID]bool, len(list.Items))
	for i := range list.Items {
		pod := &list.Items[i]
		there[pod.UID] = pod.DeletionTimestamp == nil
	}
	for uid, r := range n.pods {
		if !there[uid] {
			if err := r.end(); err != nil {
				return err
			}
			delete(n.pods, uid)
		}
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if !there[pod.UID] {
			if err := n.confirmDeletion(ctx, pod); err != nil {
				return err
			}
			continue
		}
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if err := n.syncPod(ctx, pod); err != nil {
			return fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// syncPod starts a pod whose volumes are there, follows them, and says how it is.
func (n *Node) syncPod(ctx context.Context, pod *corev1.Pod) error {
	r := n.pods[pod.UID]
	if r == nil {
		r = &runningPod{node: n, dir: filepath.Join(n.dir, string(pod.UID))}
	}
	missing, err := r.mount(ctx, pod)
	if err != nil {
		return err
	}
	if r.process == nil {
		if missing {
			return nil
		}
		if r.serves(pod) && n.busy() {
			return nil // the one before it has the address
		}
		if err := r.start(ctx, pod); err != nil {
			return err
		}
		n.pods[pod.UID] = r
		return n.bind(ctx, pod)
	}
	return r.report(ctx, pod)
}

// busy reports whether a pod that serves is running.
func (n *Node) busy() bool {
	for _, r := range n.pods {
		if r.admin != "" {
			return true
		}
	}
	return false
}
