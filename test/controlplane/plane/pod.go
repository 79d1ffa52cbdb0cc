package plane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A runningPod is a pod of a Node. Its container is a process once the volumes are there.
type runningPod struct {
	node    *Node
	dir     string
	mounted map[string]string // volume -> what is in it
	process *process
	admin   string // host:port of one that serves
	ready   bool
}

// serves reports whether the pod is one of a Deployment's.
func (r *runningPod) serves(pod *corev1.Pod) bool {
	return slices.Contains(pod.Spec.Containers[0].Args, "serve")
}

// start starts the container's process. Its arguments are the pod's own but for where files and
// addresses are.
func (r *runningPod) start(ctx context.Context, pod *corev1.Pod) error {
	args := make([]string, 0, len(pod.Spec.Containers[0].Args)+4)
	for _, arg := range pod.Spec.Containers[0].Args {
		args = append(args, r.local(pod, arg))
	}
	more, err := r.addresses(ctx, pod)
	if err != nil {
		return err
	}
	r.process, err = begin(r.dir, r.node.logOf(pod.Namespace, pod.Name), r.node.program, append(args, more...)...)
	return err
}

// local replaces the paths of mounts by where they are on this machine.
func (r *runningPod) local(pod *corev1.Pod, text string) string {
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		text = strings.ReplaceAll(text, m.MountPath, r.volume(m.Name))
	}
	return text
}

func (r *runningPod) volume(name string) string { return filepath.Join(r.dir, name) }

// addresses are the flags for what a pod finds by DNS, its environment and the paths of a
// container.
func (r *runningPod) addresses(ctx context.Context, pod *corev1.Pod) ([]string, error) {
	service, err := r.service(ctx)
	if err != nil {
		return nil, err
	}
	token := filepath.Join(r.dir, "token")
	kubeconfig := filepath.Join(r.dir, "kubeconfig")
	if err := r.node.plane.writeKubeconfig(kubeconfig, &clientcmdapi.AuthInfo{TokenFile: token}); err != nil {
		return nil, err
	}
	api := []string{"--kubeconfig=" + kubeconfig}
	switch verb := strings.Join(pod.Spec.Containers[0].Args[:min(2, len(pod.Spec.Containers[0].Args))], " "); {
	case r.serves(pod):
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		r.admin = listener.Addr().String()
		return []string{"--listen=" + service, "--admin-listen=" + r.admin}, listener.Close()
	case verb == "crd apply":
		return append(api, "--address="+service), r.token(ctx, pod, token)
	case verb == "crd release", verb == "certs ensure":
		return api, r.token(ctx, pod, token)
	case strings.HasPrefix(verb, "review "):
		return []string{"--address=" + service}, nil
	default:
		return nil, fmt.Errorf("it is not known what %q needs", verb)
	}
}

// service returns the address of the Service that selects pods which serve.
func (r *runningPod) service(ctx context.Context) (string, error) {
	list, err := r.node.client.CoreV1().Services(r.node.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, s := range list.Items {
		if s.Spec.ClusterIP != corev1.ClusterIPNone && len(s.Spec.Selector) > 0 {
			return net.JoinHostPort(s.Spec.ClusterIP, strconv.Itoa(int(s.Spec.Ports[0].Port))), nil
		}
	}
	return "", fmt.Errorf("no Service in %s: %s", r.node.namespace, labels.Everything())
}

// report tells the API server how the pod is.
func (r *runningPod) report(ctx context.Context, pod *corev1.Pod) error {
	phase := corev1.PodRunning
	select {
	case <-r.process.ended:
		phase = corev1.PodSucceeded
		if r.process.err != nil {
			phase = corev1.PodFailed
		}
	default:
	}
	r.ready = r.admin != "" && r.isReady(ctx)
	status := corev1.ConditionFalse
	if r.ready {
		status = corev1.ConditionTrue
	}
	if pod.Status.Phase == phase && len(pod.Status.Conditions) > 0 && conditionOf(pod) == status {
		return nil
	}
	pod.Status.Phase = phase
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: status},
		{Type: corev1.ContainersReady, Status: status},
	}
	_, err := r.node.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func conditionOf(pod *corev1.Pod) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

// isReady asks what the readiness probe asks.
func (r *runningPod) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.admin+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// end ends the process, if there is one, and takes the files away.
func (r *runningPod) end() error {
	if r.process != nil {
		if err := r.process.stop(); err != nil {
			return err
		}
	}
	return os.RemoveAll(r.dir)
}
