package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// liveFlags let a verb read the objects of a cluster. They are the same for all verbs.
type liveFlags struct {
	on, all, showValues bool
	cluster             clusterFlags
}

// add adds the flags. The usage of --live is the verb's own.
func (f *liveFlags) add(flags *pflag.FlagSet, usage string) {
	flags.BoolVar(&f.on, "live", false, usage)
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "with --live: the objects of all namespaces, which is the default")
	flags.StringVarP(&f.cluster.Namespace, "namespace", "n", "", "with --live: only the objects of this `namespace`")
	f.cluster.addConfig(flags)
	flags.BoolVar(&f.showValues, "show-values", false, "with --live: print values of objects, and not only names, paths and counts")
}

// check reports what is wrong with the flags.
func (f *liveFlags) check(flags *pflag.FlagSet) error {
	switch {
	case !f.on:
		return noUse(flags, "without --live", "all-namespaces", "namespace", "kubeconfig", "context", "show-values")
	case f.all && f.cluster.Namespace != "":
		return errors.New("both all namespaces and one: give --all-namespaces or --namespace")
	}
	return nil
}

// A liveKind is a kind whose objects are in a cluster.
type liveKind struct {
	*converters.Kind

	version string // that the objects are read at
	path    string // of the collection
}

// A liveObject is an object of a cluster.
type liveObject struct {
	name string // NAMESPACE/NAME, or NAME
	text []byte
}

// A liveReader reads the objects of kinds from a cluster. It gets and lists only.
type liveReader struct {
	*liveFlags

	p   *program
	api *cluster.Client
}

// live returns a reader for the verb, or nil without --live. CRDs that the verb is not given are
// read from the cluster, too.
func (p *program) live(f *liveFlags, ruled *ruleFlags) (*liveReader, error) {
	if !f.on {
		return nil, nil
	}
	api, err := f.cluster.client(p, "leave out --live, or ")
	if err != nil {
		return nil, err
	}
	ruled.live = &liveReader{f, p, api}
	return ruled.live, nil
}

// crds returns the CRDs of Conversions as the cluster has them.
func (r *liveReader) crds(ctx context.Context, ruleFiles []ruleset.File) ([]ruleset.File, error) {
	set, err := r.p.compiled.Load(ctx, ruleFiles, nil)
	if err != nil {
		return nil, err
	}
	files := make([]ruleset.File, 0, len(set.Conversions))
	for _, c := range set.Conversions {
		var text json.RawMessage
		err := r.api.Get(ctx, crdwire.Path(c.Name), &text)
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

// kinds finds out where the objects of kinds are. Kinds that the cluster does not have are noted;
// it is an error if it has none.
func (r *liveReader) kinds(ctx context.Context, set *ruleset.Set, kinds []*converters.Kind) ([]liveKind, error) {
	var found []liveKind
	var missing []string
	for _, kind := range kinds {
		crd, err := crdwire.Read(ctx, r.api, set.CRD(kind.GroupKind).Name)
		if apierrors.IsNotFound(err) {
			missing = append(missing, kind.Name())
			continue
		}
		if err != nil {
			return nil, err
		}
		live := liveKind{Kind: kind, version: readAt(crd)}
		if !kind.Has(live.version) {
			return nil, fmt.Errorf("version of the cluster without a converter, add rules for it: %s of %s", live.version, kind.Name())
		}
		namespace := r.cluster.Namespace
		if crd.Spec.Scope != "Namespaced" {
			namespace = ""
		}
		live.path = cluster.CollectionPath(
			schema.GroupVersionResource{Group: crd.Spec.Group, Version: live.version, Resource: crd.Spec.Names.Plural}, namespace)
		found = append(found, live)
	}
	switch {
	case len(found) == 0:
		return nil, hintError{
			fmt.Errorf("%s: the cluster has none of these kinds", strings.Join(missing, ", ")),
			"choose another cluster with --context, or apply the CRD first",
		}
	case len(missing) > 0:
		r.p.note("not in the cluster, skipped: %s", strings.Join(missing, ", "))
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

// each calls handle with the objects of a kind, a page at a time, while the next page is on its
// way. It returns how many there were.
func (r *liveReader) each(ctx context.Context, kind *liveKind, handle func(page []liveObject) error) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan cluster.Page)
	var err error // of the list, when pages is closed
	go func() {
		defer close(pages)
		err = r.api.List(ctx, kind.path, func(page cluster.Page) error {
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	progress := newProgress(r.p.stderr, kind.Name())
	defer progress.clear()
	count := 0
	for page := range pages {
		objects := make([]liveObject, len(page.Objects))
		for i, text := range page.Objects {
			objects[i] = liveObject{nameOf(text), text}
		}
		if err := handle(objects); err != nil {
			cancel()
			for range pages { // the list ends
			}
			return count, err
		}
		count += len(objects)
		progress.listed(count, page.Left)
	}
	if apierrors.IsForbidden(err) && r.cluster.Namespace == "" {
		err = fmt.Errorf("%w, or name a namespace that you may list with --namespace", err)
	}
	return count, err
}

// nameOf returns NAMESPACE/NAME of an object, or its name if it has no namespace.
func nameOf(object []byte) string {
	var of struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(object, &of) // the list has been decoded
	return strings.TrimPrefix(of.Metadata.Namespace+"/"+of.Metadata.Name, "/")
}

// inParallel returns the results of a function for the elements of a list, in their order.
func inParallel[T, R any](all []T, do func(T) R) []R {
	results := make([]R, len(all))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(all); i += workers {
				results[i] = do(all[i])
			}
		})
	}
	group.Wait()
	return results
}
