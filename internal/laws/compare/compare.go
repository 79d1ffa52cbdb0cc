package compare

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/shrink"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Verdict says how two converters of a kind differ on an object.
type Verdict string

// The verdicts, in the order in which they are listed.
const (
	OursFails   Verdict = "ours fails"
	TheirsFails Verdict = "theirs fails"
	// OursLoses and TheirsLoses: what comes back differs from the object, and by the other
	// converter it does not.
	OursLoses   Verdict = "ours loses"
	TheirsLoses Verdict = "theirs loses"
	// Differs: the converted objects differ.
	Differs Verdict = "ours differs"
	// BothLose: what comes back differs from the object by either converter. It is no difference
	// between the two.
	BothLose Verdict = "both differ from the source"
)

// A Location is where and how two converters differ.
type Location struct {
	Verdict  Verdict
	From, To string
	// Path is a path of the version At, with [] for elements and {} for the entries of maps. It is
	// empty if a conversion fails.
	At, Path string
}

// A Disagreement is a place, and how many objects differ there.
type Disagreement struct {
	Location

	Objects uint64
	// Name is that of the first object, as its caller names it. Object is the object itself, made
	// smaller if the comparison shows values. Source, Theirs and Ours are the JSON texts of what is
	// there, "" if absent, or the messages of failures.
	Name                 string
	Object               []byte
	Source, Theirs, Ours string
}

// shrinkTime bounds how long one object is made smaller: a live object may be large, and a webhook
// slow.
const shrinkTime = 5 * time.Second

// A Comparison converts the same objects by two converters of one kind, theirs and ours. It is safe
// for concurrent use.
type Comparison struct {
	// Values says that Disagreements have values and small objects.
	Values bool

	theirs, ours *hold.Resource
	seed         uint64
	generators   map[string]*generate.Generator

	lock    sync.Mutex
	found   map[Location]*Disagreement
	objects uint64
	differ  uint64
}

// Compare prepares a comparison. Both need the same schemas, of which random objects are made with
// hints by version and a seed.
func Compare(theirs, ours *hold.Resource, hints map[string]generate.Hints, seed uint64) (*Comparison, error) {
	c := &Comparison{theirs: theirs, ours: ours, seed: seed, generators: map[string]*generate.Generator{}, found: map[Location]*Disagreement{}}
	problems := make([]error, 0, len(ours.Versions))
	for _, version := range ours.Versions {
		g, err := generate.NewGenerator(ours.Schema(version), hints[version])
		c.generators[version], problems = g, append(problems, err)
	}
	return c, errors.Join(problems...)
}

// Versions returns the versions of the objects.
func (c *Comparison) Versions() []string { return c.ours.Versions }

// Object returns the random object of a version and an index, always the same, or nil if chance
// makes none that is valid.
func (c *Comparison) Object(version string, index uint64) []byte {
	return c.generators[version].Object(c.seed, index)
}

// Add compares an object in all directions.
func (c *Comparison) Add(ctx context.Context, name string, object []byte) {
	places := c.compare(ctx, object)
	if ctx.Err() != nil {
		return
	}
	c.lock.Lock()
	c.objects++
	var first []*Disagreement
	differs := false
	for place, d := range places {
		known := c.found[place]
		if known == nil {
			d.Name, d.Object = name, object
			c.found[place], known = d, d
			first = append(first, d)
		}
		known.Objects++
		differs = differs || place.Verdict != BothLose
	}
	if differs {
		c.differ++
	}
	c.lock.Unlock()
	if c.Values {
		for _, d := range first {
			c.shrink(ctx, d)
		}
	}
}

// shrink makes the object of a difference smaller.
func (c *Comparison) shrink(ctx context.Context, d *Disagreement) {
	ctx, cancel := context.WithTimeout(ctx, shrinkTime)
	defer cancel()
	c.lock.Lock()
	smallest := *d
	c.lock.Unlock()
	smallest.Object = shrink.Smallest(ctx, smallest.Object, shrink.MaxRemote, func(object []byte) bool {
		if version, err := tree.VersionOf(object); err != nil || version != smallest.From {
			return false
		}
		again := c.compare(ctx, object)[smallest.Location]
		if again != nil {
			smallest.Source, smallest.Theirs, smallest.Ours = again.Source, again.Theirs, again.Ours
		}
		return again != nil
	})
	c.lock.Lock()
	defer c.lock.Unlock()
	smallest.Objects = d.Objects
	*d = smallest
}

// Disagreements returns what was found, and how many of how many objects differ.
func (c *Comparison) Disagreements() (found []Disagreement, differ, objects uint64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	order := []Verdict{OursFails, TheirsFails, OursLoses, TheirsLoses, Differs, BothLose}
	for _, d := range c.found {
		found = append(found, *d)
	}
	slices.SortFunc(found, func(a, b Disagreement) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Verdict), slices.Index(order, b.Verdict)),
			cmp.Compare(b.Objects, a.Objects), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), strings.Compare(a.Path, b.Path))
	})
	return found, c.differ, c.objects
}

// compare returns how the conversions of an object differ, by place.
func (c *Comparison) compare(ctx context.Context, object []byte) map[Location]*Disagreement {
	found := map[Location]*Disagreement{}
	from, err := tree.VersionOf(object)
	if err != nil {
		return found
	}
	for _, to := range c.ours.Others(from) {
		c.direction(ctx, object, Location{From: from, To: to}, found)
	}
	return found
}

// add adds a difference, unless there is one of the same place.
func add(found map[Location]*Disagreement, place Location, verdict Verdict, source, theirs, ours string) {
	place.Verdict = verdict
	if found[place] == nil {
		found[place] = &Disagreement{Location: place, Source: source, Theirs: theirs, Ours: ours}
	}
}

// direction compares an object in one direction. Both converters may refuse an object.
func (c *Comparison) direction(ctx context.Context, object []byte, at Location, found map[Location]*Disagreement) {
	theirs, theirErr := c.theirs.Convert(ctx, object, at.From, at.To)
	ours, ourErr := c.ours.Convert(ctx, object, at.From, at.To)
	switch {
	case theirErr != nil && ourErr != nil:
		return
	case theirErr != nil:
		add(found, at, TheirsFails, "", theirErr.Error(), "")
		return
	case ourErr != nil:
		add(found, at, OursFails, "", "", ourErr.Error())
		return
	}
	shown := shownOf(tree.Read(object))
	seen := func(version, other string, object []byte) map[string]any {
		return c.ours.WithoutDropped(shown(c.ours.View(version, object)), version, other)
	}
	place := at
	place.At = at.To
	for _, diff := range differences(c.ours.Schema(at.To).Root, seen(at.To, at.From, theirs), seen(at.To, at.From, ours)) {
		place.Path = diff.Path
		add(found, place, Differs, "", diff.Was, diff.Is)
	}
	var lost [2][]Difference
	for i, s := range []*hold.Resource{c.theirs, c.ours} {
		text, err := s.Convert(ctx, tree.Encode(s.View(at.To, [][]byte{theirs, ours}[i])), at.To, at.From)
		if err != nil {
			add(found, Location{From: at.To, To: at.From}, []Verdict{TheirsFails, OursFails}[i], "", err.Error(), "")
			return
		}
		lost[i] = differences(c.ours.Schema(at.From).Root, seen(at.From, at.To, object), seen(at.From, at.To, text))
	}
	losses(at, lost[0], lost[1], found)
}

// losses compares what each converter loses of an object.
func losses(at Location, theirs, ours []Difference, found map[Location]*Disagreement) {
	at.At = at.From
	for _, loss := range ours {
		verdict, is := OursLoses, loss.Was
		if i := slices.IndexFunc(theirs, loss.samePath); i >= 0 {
			verdict, is = BothLose, theirs[i].Is
		}
		at.Path = loss.Path
		add(found, at, verdict, loss.Was, is, loss.Is)
	}
	for _, loss := range theirs {
		if at.Path = loss.Path; !slices.ContainsFunc(ours, loss.samePath) {
			add(found, at, TheirsLoses, loss.Was, loss.Is, loss.Was)
		}
	}
}

// shownOf returns a function that removes labels and annotations that an object did not have: what
// a converter keeps there is its own matter.
func shownOf(source map[string]any) func(map[string]any) map[string]any {
	names := map[string]map[string]bool{}
	for _, in := range []string{"labels", "annotations"} {
		names[in] = map[string]bool{}
		entries, _ := tree.At(source, "metadata", in).(map[string]any)
		for name := range entries {
			names[in][name] = !annotation.IsOwn(name)
		}
	}
	return func(object map[string]any) map[string]any {
		for in, known := range names {
			entries, _ := tree.At(object, "metadata", in).(map[string]any)
			maps.DeleteFunc(entries, func(name string, _ any) bool { return !known[name] })
		}
		delete(object, "apiVersion")
		return tree.Tidy(object)
	}
}
