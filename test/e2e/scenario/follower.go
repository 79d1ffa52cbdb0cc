package scenario

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A follower is the cache of a controller: it lists and watches the objects at one version, and
// begins again whenever that fails.
type follower struct {
	r       *Resource
	version string
	store   cache.Store
}

// follow starts a follower, which ends with the test.
func follow(t *testing.T, r *Resource, version string) *follower {
	t.Helper()
	f := &follower{r: r, version: version, store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	objects := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return r.At(version).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.At(version).Watch(ctx, o)
		},
	}
	reflector := cache.NewReflectorWithOptions(objects, &unstructured.Unstructured{}, f.store, cache.ReflectorOptions{
		// The default waits for up to a minute after some failures.
		Backoff: &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 5, Cap: time.Second},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		reflector.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return f
}

// sees makes a change at the storage version and waits until the follower has it at its own.
func (f *follower) sees(t *testing.T, name, mark string) {
	t.Helper()
	patch := []byte(`{"metadata":{"annotations":{"example.com/mark":"` + mark + `"}}}`)
	Succeeds(t, "a change at "+f.r.Storage, func() error {
		_, err := f.r.At(f.r.Storage).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	Eventually(t, "a watch at "+f.version+" to show a change", func() bool {
		item, found, err := f.store.GetByKey(f.r.Namespace + "/" + name)
		obj, ok := item.(*unstructured.Unstructured)
		return err == nil && found && ok && obj.GetAnnotations()["example.com/mark"] == mark &&
			obj.GroupVersionKind().Version == f.version
	})
}
