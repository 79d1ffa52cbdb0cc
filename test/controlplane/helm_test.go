package controlplane_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

const labelOfHelm = "app.kubernetes.io/name=webhookd"

// helm installs the chart into a namespace that takes restricted pods only, upgrades it and
// uninstalls it. No pod runs, as there is no node.
func helm(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	const namespace = "conversion"
	p.MakeNamespace(t, namespace, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	h := p.Helm(t)
	chart := filepath.Join(webhook.Root(t), "deploy", "helm", "webhookd")
	const values = "tls.mode=existingSecret,tls.existingSecret=webhookd-tls"
	h.Run(t, "lint", "--strict", chart, "--set", values)
	h.Run(t, "install", "webhookd", chart, "--namespace", namespace, "--set", values)
	podsOfHelm(t, p, namespace, 2)
	h.Run(t, "upgrade", "webhookd", chart, "--namespace", namespace, "--set", values+",replicaCount=3")
	podsOfHelm(t, p, namespace, 3)
	if out := h.Run(t, "list", "--namespace", namespace, "--short"); out != "webhookd\n" {
		t.Errorf("releases: %q", out)
	}
	h.Run(t, "uninstall", "webhookd", "--namespace", namespace)
	podsOfHelm(t, p, namespace, 0)
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	left := kubectl.Run(t, "-n", namespace, "get", "deploy,svc,cm,pdb,sa,networkpolicy", "-l", labelOfHelm)
	if !strings.HasPrefix(left, "No resources found") {
		t.Errorf("what is left of the release:\n%s", left)
	}
	// That the pods of the chart came was no matter of course.
	refused := kubectl.Fails(t, "-n", namespace, "run", "any", "--image=any")
	if !strings.Contains(refused, `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a pod that is not restricted: %s", refused)
	}
}

// podsOfHelm waits until there are so many pods, which wait for a node.
func podsOfHelm(t *testing.T, p *plane.Plane, namespace string, n int) {
	t.Helper()
	scenario.Eventually(t, "the pods of the chart", func() bool {
		pods, err := p.Kube(t).CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: labelOfHelm})
		if err != nil {
			t.Fatal(err)
		}
		pending := 0
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodPending {
				pending++
			}
		}
		return pending == n && len(pods.Items) == n
	})
}
