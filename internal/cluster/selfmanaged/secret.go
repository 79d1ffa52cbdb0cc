package selfmanaged

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/cluster"
)

// The keys of the Secrets: those of corev1.SecretTypeTLS, and webhookd's own.
const (
	certKey   = "tls.crt"
	keyKey    = "tls.key"
	bundleKey = "ca.crt"

	nextCertKey     = "next.crt"
	nextKeyKey      = "next.key"
	trustedSinceKey = "trusted-since"
)

// CASuffix ends the name of the Secret with the CA's key, after the name of the Secret with the
// leaf.
const CASuffix = "-ca"

const (
	typeTLS    = "kubernetes.io/tls"
	typeOpaque = "Opaque"
)

type secret struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Type       string            `json:"type,omitempty"`
	Data       map[string][]byte `json:"data,omitempty"`
}

func secretsPath(namespace string) string { return "/api/v1/namespaces/" + namespace + "/secrets" }

// readSecret reads a Secret. One that does not exist has no resourceVersion.
func readSecret(ctx context.Context, api *cluster.Client, namespace, name string) (*secret, error) {
	s := &secret{}
	err := api.Get(ctx, secretsPath(namespace)+"/"+name, s)
	if apierrors.IsNotFound(err) {
		return &secret{Metadata: metav1.ObjectMeta{Namespace: namespace, Name: name}}, nil
	}
	if err != nil {
		return nil, err
	}
	if owner := s.Metadata.Annotations["cert-manager.io/certificate-name"]; owner != "" {
		return nil, fmt.Errorf("%s/%s: cert-manager manages this Secret, for the Certificate %s: use another one, or no certs ensure", namespace, name, owner)
	}
	return s, nil
}

// write changes data of a Secret if it has not changed since it was read, or creates it. A nil
// value removes a key.
func (s *secret) write(ctx context.Context, api *cluster.Client, kind string, data map[string][]byte) error {
	path := secretsPath(s.Metadata.Namespace)
	if s.Metadata.ResourceVersion == "" {
		made := secret{APIVersion: "v1", Kind: "Secret", Metadata: s.Metadata, Type: kind, Data: map[string][]byte{}}
		maps.Copy(made.Data, data)
		maps.DeleteFunc(made.Data, func(_ string, value []byte) bool { return value == nil })
		err := api.Create(ctx, path, made)
		if apierrors.IsForbidden(err) {
			err = fmt.Errorf("%w, or make an empty Secret %s of type Opaque there, and allow patch of it", err, s.Metadata.Name)
		}
		return err
	}
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": s.Metadata.ResourceVersion}, "data": data}
	return api.MergePatch(ctx, path+"/"+s.Metadata.Name, patch, nil)
}

// trustedSince returns the noted time; zero without one that can be read.
func (s *secret) trustedSince() time.Time {
	t, _ := time.Parse(time.RFC3339, string(s.Data[trustedSinceKey])) // zero with an error
	return t
}
