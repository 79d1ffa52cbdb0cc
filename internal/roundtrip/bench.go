package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// poolSize is the number of objects of each version that edits take their parts from.
const poolSize = 64

// A bench is a suite with schemas, ready to hold objects to its laws. It is safe for concurrent use.
type bench struct {
	Suite
	generators map[string]*Generator
	pools      map[string][]map[string]any
	drops      map[direction][]place
	stats      counters
	documents  documents
}

type direction struct{ from, to string }

func (s Suite) bench() (*bench, error) {
	b := &bench{
		Suite: s, generators: map[string]*Generator{}, pools: map[string][]map[string]any{}, drops: map[direction][]place{},
	}
	var problems []error
	for _, version := range b.versions() {
		v := s.CRD.Version(version)
		if v.Root == nil {
			return nil, fmt.Errorf("version without a schema: %s", version)
		}
		g, err := NewGenerator(v, s.Hints[version])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		b.generators[version] = g
		for index := range uint64(poolSize) {
			if obj := g.Object(^s.Seed, index); obj != nil {
				b.pools[version] = append(b.pools[version], b.view(version, obj))
			}
		}
	}
	problems = append(problems, b.readDrops()...)
	return b, errors.Join(problems...)
}

// versions are those that the kind and the CRD have.
func (b *bench) versions() []string {
	var versions []string
	for _, version := range b.Kind.Versions {
		if b.CRD.Version(version) != nil {
			versions = append(versions, version)
		}
	}
	return versions
}

func (b *bench) readDrops() []error {
	var problems []error
	for _, drop := range b.Drops {
		p, err := parsePlace(drop.Path)
		if err != nil {
			problems = append(problems, err)
		}
		for _, from := range b.versions() {
			for _, to := range b.versions() {
				if (drop.From == "" || drop.From == from) && (drop.To == "" || drop.To == to || drop.To == b.Kind.Hub) {
					b.drops[direction{from, to}] = append(b.drops[direction{from, to}], p)
				}
			}
		}
	}
	return problems
}

// checkBySchema is Check of a suite that has schemas.
func (s Suite) checkBySchema(ctx context.Context, objects iter.Seq[[]byte]) error {
	b, err := s.bench()
	if err != nil {
		return err
	}
	index := uint64(0)
	for object := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if found := b.checkWithEdits(ctx, object, index); found != nil {
			return b.shrink(ctx, found)
		}
		index++
	}
	return nil
}

// view returns an object as the API server has it: decoded, pruned and defaulted.
func (b *bench) view(version string, object []byte) map[string]any {
	v := decoded(object)
	if s := b.CRD.Version(version); s != nil {
		s.Prune(v)
		s.Default(v)
	}
	return v
}

// visible removes all stashes, and metadata, labels and annotations that are null or empty: the API server does not tell
// these from absent ones.
func visible(object map[string]any) map[string]any {
	if annotations := annotationsOf(object); annotations != nil {
		for name := range annotations {
			if isStash(name) {
				delete(annotations, name)
			}
		}
	}
	return tidy(object)
}

// tidy is visible, but for stashes.
func tidy(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		if entries, _ := meta[name].(map[string]any); len(entries) == 0 {
			delete(meta, name)
		}
	}
	if len(meta) == 0 {
		delete(object, "metadata")
	}
	return object
}

func annotationsOf(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	return annotations
}

func isStash(annotation string) bool {
	return strings.HasPrefix(annotation, converters.StashAnnotation(""))
}

// stashes returns the stashes of an object by the name of their annotation.
func stashes(object map[string]any) map[string]string {
	found := map[string]string{}
	for name, value := range annotationsOf(object) {
		if text, ok := value.(string); ok && isStash(name) {
			found[name] = text
		}
	}
	return found
}

// random returns the source of the choices for one object.
func (b *bench) random(index uint64, version string) *rand.Rand {
	return rand.New(rand.NewPCG(b.Seed^hash(version), index)) //nolint:gosec // choices that can be repeated
}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// schemaOf returns the schema of a version, which the CRD has.
func (b *bench) schemaOf(version string) *crdschema.Version { return b.CRD.Version(version) }
