package crdwire

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// StatusOptions say what there is to look with.
type StatusOptions struct {
	// API is that of the CRDs; nil if they are from files.
	API *cluster.Client
	// Read lists an object at each version, and connects to Services through the API.
	Read bool
	// Service is that of webhookd; the zero Target if it is not known.
	Service Target
	// Address is HOST:PORT to connect to instead of the target's; it may be empty.
	Address string
	// Ruled says that there are rules. Versions returns the versions of a kind that can be
	// converted; none if the kind is not known.
	Ruled    bool
	Versions func(schema.GroupKind) []string
	// Copy returns webhookd's copy of a CRD; nil without one.
	Copy func(name string) *crdschema.CRD
	Now  time.Time
}

// A State is what a check has found.
type State string

// The states.
const (
	OK         State = "ok"
	Note       State = "note" // nothing is broken by it, but there is something to do
	Wrong      State = "WRONG"
	NotChecked State = "not checked"
)

// A Result is what a check says.
type Result struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Text  string `json:"text"`
}

// A Status is what is known of the conversion of a CRD.
type Status struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is Wrong if a check is, and OK if one has proved that objects are converted.
	State   State    `json:"state"`
	Results []Result `json:"checks"`
}

// A check looks at one thing. It does so if all that it needs is there.
type check struct {
	name  string
	needs []need
	look  func(*inspected, context.Context)
	// proves says that objects are converted if it finds nothing wrong.
	proves bool
}

// A need is a condition of a check.
type need struct {
	met func(*inspected) bool
	// give says how to meet it; empty if the check does not concern the CRD.
	give string
}

// checks returns all checks, in their order.
func checks() []check {
	is := func(met func(*inspected) bool) need { return need{met: met} }
	several := is(func(s *inspected) bool { return len(s.Spec.Versions) > 1 })
	webhook := is(func(s *inspected) bool { return s.webhook })
	service := is(func(s *inspected) bool { return s.webhook && s.target.IsService() })
	none := is(func(s *inspected) bool { return !s.webhook })
	verified := is(func(s *inspected) bool { return s.verified })
	convertible := is(func(s *inspected) bool { return s.webhook || len(s.known) > 0 })
	copied := is(func(s *inspected) bool { return s.o.Copy(s.Name) != nil })
	fromXRD := is(func(s *inspected) bool { _, is := xrd.Owner(s.CRD); return is })
	inCluster := need{func(s *inspected) bool { return s.o.API != nil }, "a file does not tell: leave out --filename to ask the cluster"}
	read := need{func(s *inspected) bool { return s.o.Read }, "--read reads an object at each served version"}
	way := need{(*inspected).reachable, "--read connects to the Service, --address to a port-forward of it"}
	ours := need{func(s *inspected) bool { return s.o.Address != "" || s.target.Same(s.o.Service) }, "test reviews are only for the webhook of --service or --address"}
	rules := need{func(s *inspected) bool { return s.o.Ruled || len(s.known) > 0 }, "--rules and --crds tell whether webhookd converts every version"}
	return []check{
		{name: "versions", look: (*inspected).listVersions},
		{name: "strategy", needs: []need{none}, look: (*inspected).judgeNone, proves: true},
		{name: "webhook", needs: []need{webhook}, look: (*inspected).judgeWebhook},
		{name: "XRD", needs: []need{fromXRD, inCluster}, look: (*inspected).judgeDefinition},
		{name: "owner", needs: []need{webhook}, look: (*inspected).judgeOwners},
		{name: "Service", needs: []need{service, inCluster}, look: (*inspected).judgeService},
		{name: "caBundle", needs: []need{webhook}, look: (*inspected).judgeBundle},
		{name: "certificate", needs: []need{webhook, way}, look: (*inspected).judgeServed},
		{name: "reviews", needs: []need{webhook, verified, ours}, look: (*inspected).tryReviews, proves: true},
		{name: "read", needs: []need{several, inCluster, read}, look: (*inspected).read, proves: true},
		{name: "stored", needs: []need{is(func(s *inspected) bool { return len(s.Status.StoredVersions) > 1 })}, look: (*inspected).judgeStored},
		{name: "rules", needs: []need{several, convertible, rules}, look: (*inspected).judgeVersions, proves: true},
		{name: "copy", needs: []need{copied}, look: (*inspected).compare},
	}
}

// Concerns reports whether a CRD has a webhook or versions to convert.
func Concerns(crd *CRD) bool {
	_, is := TargetOf(crd)
	return is || len(crd.Spec.Versions) > 1
}

// Inspect looks at the conversion of a CRD, webhookd's or not, and changes nothing. A CRD without a
// webhook should have its schemas.
func Inspect(ctx context.Context, crd *CRD, o *StatusOptions) Status {
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	s := &inspected{CRD: crd, o: o, known: o.Versions(kind), bundle: BundleOf(crd)}
	s.target, s.webhook = TargetOf(crd)
	status := Status{Name: crd.Name, Kind: kind.String(), State: NotChecked}
	for _, c := range checks() {
		s.results = nil
		s.run(ctx, &c)
		for _, r := range s.results {
			r.Check = c.name
			status.Results = append(status.Results, r)
			if r.State == Wrong || r.State == OK && c.proves && status.State != Wrong {
				status.State = r.State
			}
		}
	}
	return status
}

// An inspected CRD is what checks look at, and what they have found.
type inspected struct {
	*CRD

	o        *StatusOptions
	target   Target
	webhook  bool     // there is a target
	known    []string // versions that webhookd can convert
	bundle   Bundle
	endpoint *Endpoint // once it is connected to
	verified bool      // by the bundle
	results  []Result  // of the check
}

func (s *inspected) run(ctx context.Context, c *check) {
	for _, n := range c.needs {
		if n.met(s) {
			continue
		}
		if n.give != "" {
			s.say(NotChecked, "%s", n.give)
		}
		return
	}
	c.look(s, ctx)
}

func (s *inspected) say(state State, format string, args ...any) {
	s.results = append(s.results, Result{State: state, Text: fmt.Sprintf(format, args...)})
}

// sayOK says what is seen, unless the check has found something.
func (s *inspected) sayOK(format string, args ...any) {
	if len(s.results) == 0 {
		s.say(OK, format, args...)
	}
}
