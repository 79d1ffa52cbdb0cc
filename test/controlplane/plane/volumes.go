package plane

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mount writes the files of all volumes, those that have changed since the last time, and reports
// whether something is missing that the pod has to wait for.
func (r *runningPod) mount(ctx context.Context, pod *corev1.Pod) (missing bool, err error) {
	if r.mounted == nil {
		r.mounted = make(map[string]string)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return false, err
	}
	used := pod.Spec.Containers[0].VolumeMounts
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !slices.ContainsFunc(used, func(m corev1.VolumeMount) bool { return m.Name == v.Name }) || isToken(v) {
			continue
		}
		files, found, err := r.filesOf(ctx, v)
		if err != nil {
			return false, err
		}
		if !found {
			missing = true
			continue
		}
		for name, text := range files {
			files[name] = []byte(r.local(pod, string(text)))
		}
		if is := fmt.Sprintf("%q", files); r.mounted[v.Name] != is {
			if err := writeVolume(r.volume(v.Name), files); err != nil {
				return false, err
			}
			r.mounted[v.Name] = is
		}
	}
	return missing, nil
}

// isToken is true of the volume that admission adds for the ServiceAccount's token.
func isToken(v *corev1.Volume) bool {
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.ServiceAccountToken != nil
	})
}

// filesOf returns what is in a volume, and false if a part of it is not there that is not optional.
func (r *runningPod) filesOf(ctx context.Context, v *corev1.Volume) (map[string][]byte, bool, error) {
	switch {
	case v.ConfigMap != nil:
		return r.configMap(ctx, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return r.secret(ctx, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.Projected != nil:
		all := make(map[string][]byte)
		for _, s := range v.Projected.Sources {
			if s.ConfigMap == nil {
				return nil, false, fmt.Errorf("a source that this node does not know in volume %s", v.Name)
			}
			files, found, err := r.configMap(ctx, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
			if err != nil || !found {
				return nil, false, err
			}
			maps.Copy(all, files)
		}
		return all, true, nil
	}
	return nil, false, fmt.Errorf("a kind of volume that this node does not know: %s", v.Name)
}

func (r *runningPod) configMap(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, bool, error) {
	m, err := r.node.client.CoreV1().ConfigMaps(r.node.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return absent(err, optional)
	}
	data := make(map[string][]byte, len(m.Data))
	for key, text := range m.Data {
		data[key] = []byte(text)
	}
	return pick(data, items)
}

func (r *runningPod) secret(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, bool, error) {
	s, err := r.node.client.CoreV1().Secrets(r.node.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return absent(err, optional)
	}
	return pick(s.Data, items)
}

func absent(err error, optional *bool) (map[string][]byte, bool, error) {
	if apierrors.IsNotFound(err) {
		return nil, optional != nil && *optional, nil
	}
	return nil, false, err
}

// pick returns the items, and false if one is not there. Without items all there is counts.
func pick(data map[string][]byte, items []corev1.KeyToPath) (map[string][]byte, bool, error) {
	if len(items) == 0 {
		return data, true, nil
	}
	files := make(map[string][]byte, len(items))
	for _, item := range items {
		text, found := data[item.Key]
		if !found {
			return nil, false, nil
		}
		files[item.Path] = text
	}
	return files, true, nil
}

// writeVolume makes dir hold the files as a kubelet does: in a folder of their own that the link
// ..data leads to.
func writeVolume(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "..[0-9]*"))
	if err != nil {
		return err
	}
	fresh := filepath.Join(dir, ".."+strconv.Itoa(len(old)))
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), text, 0o600); err != nil {
			return err
		}
		link := filepath.Join(dir, name)
		if _, err := os.Lstat(link); err == nil {
			continue
		}
		if err := os.Symlink(filepath.Join("..data", name), link); err != nil {
			return err
		}
	}
	next := filepath.Join(dir, "..data_tmp")
	if err := os.Symlink(filepath.Base(fresh), next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, "..data"))
}

// token writes a token of the pod's ServiceAccount.
func (r *runningPod) token(ctx context.Context, pod *corev1.Pod, file string) error {
	request, err := r.node.client.CoreV1().ServiceAccounts(pod.Namespace).
		CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(request.Status.Token), 0o600)
}
