package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// LiveFlags let a verb read the objects of a cluster. They are the same for all verbs.
type LiveFlags struct {
	On, ShowValues bool
	Cluster        ClusterFlags
}

// Add adds the flags. The usage of --live is the verb's own.
func (f *LiveFlags) Add(flags *pflag.FlagSet, usage string) {
	flags.BoolVar(&f.On, "live", false, usage)
	flags.StringVarP(&f.Cluster.Namespace, "namespace", "n", "", "with --live: only the objects of this `namespace` (default all)")
	f.Cluster.AddConfig(flags)
	flags.BoolVar(&f.ShowValues, "show-values", false, "with --live: print values of objects, and not only names, paths and counts")
}

// Check reports what is wrong with the flags.
func (f *LiveFlags) Check(flags *pflag.FlagSet) error {
	if f.On {
		return nil
	}
	return voice.NoUse(flags, "without --live", "namespace", "kubeconfig", "context", "show-values")
}

// A Kind is a kind whose objects are in a cluster.
type Kind struct {
	*converters.Kind

	Version string // that the objects are read at
	path    string // of the collection
}

// An Object is an object of a cluster.
type Object struct {
	Name string // NAMESPACE/NAME, or NAME
	Text []byte
}

// A Reader reads the objects of kinds from a cluster. It gets and lists only.
type Reader struct {
	*LiveFlags

	p   *voice.Program
	API *cluster.Client
}

// Reader returns a reader for the verb, which reads CRDs from the cluster, too, if it is not given
// any. otherwise is as for Client.
func (f *LiveFlags) Reader(p *voice.Program, otherwise string, ruled *offline.Flags) (*Reader, error) {
	api, err := f.Cluster.Client(p, otherwise)
	r := &Reader{f, p, api}
	ruled.Live = r.crdsOf
	return r, err
}

// crdsOf returns the CRDs of Conversions as the cluster has them.
func (r *Reader) crdsOf(ctx context.Context, ruleFiles []ruleset.File) ([]ruleset.File, error) {
	set, err := r.p.Compiled.Load(ctx, ruleFiles, nil)
	if err != nil {
		return nil, err
	}
	files := make([]ruleset.File, 0, len(set.Conversions))
	for _, c := range set.Conversions {
		var text json.RawMessage
		err := r.API.Get(ctx, crdwire.Path(c.Name), &text)
		switch {
		case apierrors.IsNotFound(err): // Load reports it
		case err != nil:
			return nil, err
		default:
			files = append(files, ruleset.File{Name: "cluster/" + c.Name, Text: text})
		}
	}
	return files, nil
}

// Kinds finds out where the objects of kinds are. Kinds that the cluster does not have are noted;
// it is an error if it has none.
func (r *Reader) Kinds(ctx context.Context, set *ruleset.Set, kinds []*converters.Kind) ([]Kind, error) {
	var found []Kind
	var missing []string
	for _, kind := range kinds {
		crd, err := crdwire.Read(ctx, r.API, set.CRD(kind.GroupKind).Name)
		if apierrors.IsNotFound(err) {
			missing = append(missing, kind.Name())
			continue
		}
		if err != nil {
			return nil, err
		}
		live := Kind{Kind: kind, Version: readAt(crd)}
		if !kind.Has(live.Version) {
			return nil, fmt.Errorf("%s: no converter for %s, the version of the cluster, add rules for it", kind.Name(), live.Version)
		}
		namespace := r.Cluster.Namespace
		if crd.Spec.Scope != "Namespaced" {
			namespace = ""
		}
		live.path = cluster.CollectionPath(
			schema.GroupVersionResource{Group: crd.Spec.Group, Version: live.Version, Resource: crd.Spec.Names.Plural}, namespace)
		found = append(found, live)
	}
	switch {
	case len(found) == 0:
		return nil, voice.Hint(fmt.Errorf("%s: the cluster has none of these kinds", strings.Join(missing, ", ")),
			"choose another cluster with --context, or apply the CRD first")
	case len(missing) > 0:
		r.p.Note("not in the cluster, skipped: %s", strings.Join(missing, ", "))
	}
	return found, nil
}

// readAt returns the version that needs the fewest conversions by what converts in the cluster now:
// the one that it stores, or if that is not served, the first that is.
func readAt(crd *crdwire.CRD) string {
	version := ""
	for _, v := range crd.Spec.Versions {
		if v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	return version
}

// Each reads the objects of a kind, a page at a time, while the next page is on its way. It calls
// handle for the objects of a page in parallel, and what it returns one after the other, in the
// order of objects. It returns how many there were.
func (r *Reader) Each(ctx context.Context, kind *Kind, handle func(Object) (then func())) (int, error) {
	pages := make(chan cluster.Page)
	var err error // of the list, when pages is closed
	go func() {
		defer close(pages)
		err = r.API.List(ctx, kind.path, func(page cluster.Page) error {
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	progress := voice.NewProgress(r.p.Stderr, kind.Name())
	defer progress.Clear()
	count := 0
	for page := range pages {
		InParallel(page.Objects, func(text json.RawMessage) func() { return handle(Object{offline.NameOf(text), text}) })
		count += len(page.Objects)
		progress.Listed(count, page.Left)
	}
	if apierrors.IsForbidden(err) && r.Cluster.Namespace == "" {
		err = fmt.Errorf("%w, or name a namespace that you may list with --namespace", err)
	}
	return count, cmp.Or(err, ctx.Err())
}

// InParallel calls do for the elements of a list in parallel, and then its results in their order.
func InParallel[T any](all []T, do func(T) (then func())) {
	results := make([]func(), len(all))
	var group sync.WaitGroup
	workers := max(runtime.GOMAXPROCS(0), 8) // those of a cluster wait most of the time
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(all); i += workers {
				results[i] = do(all[i])
			}
		})
	}
	group.Wait()
	for _, then := range results {
		then()
	}
}
