package crdwire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// soon is the remaining validity that is a finding.
const soon = 7 * 24 * time.Hour

// StatusOptions say what to look at.
type StatusOptions struct {
	// Service limits the findings to CRDs that point at it; the zero Target means all.
	Service Target
	// Dial connects to the webhook, at Address if that is not empty.
	Dial    bool
	Address string
	// Versions returns the versions of a kind that can be converted offline; none if the kind is
	// not known.
	Versions func(schema.GroupKind) []string
	// Compare compares a CRD with webhookd's copy of it, and returns the file of the copy, which is
	// empty without one, and the differences. Nil compares nothing.
	Compare func(crd *CRD) (file string, findings []string)
	// Definition returns the XRD of which Crossplane makes a CRD, in the form of a CRD. Nil if XRDs
	// are not to be read.
	Definition func(crd *CRD) (*CRD, error)
	Now        time.Time
}

// A Status describes a CRD and lists what is wrong with it.
type Status struct {
	Name           string        `json:"name"`
	Kind           string        `json:"kind"`
	XRD            string        `json:"xrd,omitempty"` // of which Crossplane makes the CRD
	Strategy       string        `json:"strategy"`
	Service        string        `json:"service,omitempty"` // NAMESPACE/NAME:PORT/PATH
	URL            string        `json:"url,omitempty"`
	ReviewVersions []string      `json:"conversionReviewVersions,omitempty"`
	CABundle       []Certificate `json:"caBundle,omitempty"`
	Versions       []Version     `json:"versions"`
	Served         *Served       `json:"serving,omitempty"`
	Copy           string        `json:"copy,omitempty"`      // the file of webhookd's copy, whose schemas were compared
	Elsewhere      bool          `json:"elsewhere,omitempty"` // it points at another webhook than Service
	Notes          []string      `json:"notes,omitempty"`     // on what is not wrong
	Findings       []string      `json:"findings"`
}

// A Certificate is one of a bundle or a chain.
type Certificate struct {
	Subject   string    `json:"subject"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
}

// A Version is a version of a CRD.
type Version struct {
	Name        string `json:"name"`
	Served      bool   `json:"served"`
	Storage     bool   `json:"storage"`
	Stored      bool   `json:"stored"`                // objects may be stored in it
	Convertible *bool  `json:"convertible,omitempty"` // by this build and the rules
	Deprecated  bool   `json:"deprecated,omitempty"`
	// DeprecationWarning is the text of the warning, unless it is the API server's own.
	DeprecationWarning string `json:"deprecationWarning,omitempty"`
}

// Served describes the webhook that answers.
type Served struct {
	ServerName  string        `json:"serverName"`
	Chain       []Certificate `json:"chain,omitempty"`
	Verified    bool          `json:"verified"`    // by caBundle
	Convertible bool          `json:"convertible"` // it answers test reviews of all pairs of versions
}

func certificates(chain Bundle) []Certificate {
	all := make([]Certificate, len(chain))
	for i, cert := range chain {
		all[i] = Certificate{NameOf(cert), cert.NotBefore.UTC(), cert.NotAfter.UTC()}
	}
	return all
}

// Concerns reports whether a CRD has a webhook or versions to convert.
func Concerns(crd *CRD) bool {
	_, is := TargetOf(crd)
	return is || len(crd.Spec.Versions) > 1
}

// Inspect reports where a CRD points, and everything that is wrong with it.
func Inspect(ctx context.Context, crd *CRD, o StatusOptions) Status {
	s := Status{
		Name: crd.Name, Kind: schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}.String(),
		Strategy: string(apiextensionsv1.NoneConverter), Findings: []string{},
	}
	if c := crd.Spec.Conversion; c != nil {
		s.Strategy = cmp.Or(string(c.Strategy), s.Strategy)
	}
	s.judgeDefinition(crd, o)
	known := o.Versions(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
	s.listVersions(crd, known)
	target, is := TargetOf(crd)
	if !is {
		if len(crd.Spec.Versions) > 1 && len(known) > 0 {
			s.find("objects are not converted although webhookd can: the API server changes only apiVersion, and fields are lost; see webhookd crd wire")
		}
		s.compare(crd, o)
		return s
	}
	if target.IsService() {
		s.Service = target.Address()
	} else {
		s.URL = target.URL
	}
	if why := target.Unreachable(); why != "" {
		s.find("%s: %s", target.URL, why)
	}
	if len(crd.Spec.Versions) == 1 {
		s.Notes = append(s.Notes, "there is one version, so the API server calls the webhook for no object")
	}
	s.ReviewVersions = crd.Spec.Conversion.Webhook.ConversionReviewVersions
	bundle := BundleOf(crd)
	s.CABundle = certificates(bundle)
	if o.Service != (Target{}) && !target.Same(o.Service) {
		s.Elsewhere = true
		return s
	}
	if !slices.Contains(s.ReviewVersions, "v1") && !slices.Contains(s.ReviewVersions, "v1beta1") {
		s.find("the API server sends none of these review versions, write [v1]: %s", strings.Join(s.ReviewVersions, ", "))
	}
	s.judgeBundle(crd, bundle, o.Now)
	if o.Dial {
		s.dial(ctx, crd, bundle, o)
	}
	s.judgeVersions(crd, known, o)
	s.compare(crd, o)
	return s
}

// listVersions lists the versions, of which the known ones have a converter.
func (s *Status) listVersions(crd *CRD, known []string) {
	for _, v := range crd.Spec.Versions {
		version := Version{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated,
			Stored: slices.Contains(crd.Status.StoredVersions, v.Name),
		}
		if v.Deprecated && v.DeprecationWarning != nil {
			version.DeprecationWarning = *v.DeprecationWarning
		}
		if v.Deprecated {
			s.Notes = append(s.Notes, fmt.Sprintf("%s is deprecated: once no client uses it, webhookd migrate removes it", v.Name))
		}
		if len(known) > 0 {
			version.Convertible = new(slices.Contains(known, v.Name))
		}
		s.Versions = append(s.Versions, version)
	}
}

func (s *Status) find(format string, args ...any) {
	s.Findings = append(s.Findings, fmt.Sprintf(format, args...))
}

// judgeDefinition compares spec.conversion with that of the XRD, which Crossplane writes to the
// CRD.
func (s *Status) judgeDefinition(crd *CRD, o StatusOptions) {
	owner, is := xrd.Owner(crd)
	if s.XRD = owner.Name; !is || o.Definition == nil {
		return
	}
	definition, err := o.Definition(crd)
	switch {
	case err != nil:
		s.find("%v", err)
		return
	case definition == nil:
		return
	}
	at, is := TargetOf(definition)
	now, was := TargetOf(crd)
	switch {
	case !is && was:
		s.find("Crossplane will remove spec.conversion, which the XRD %s does not have: set it there, see webhookd crd apply", owner.Name)
	case is && (!was || at != now || !bytes.Equal(caBundleOf(definition), caBundleOf(crd))):
		s.find("Crossplane will replace spec.conversion by that of the XRD %s: %s", owner.Name, at)
	}
}

func (s *Status) judgeBundle(crd *CRD, bundle Bundle, now time.Time) {
	text := caBundleOf(crd)
	valid := bundle.Unexpired(now)
	if _, err := ParseBundle(text); err != nil && len(bundle) > 0 {
		s.find("caBundle: %v; newer API servers reject a CRD with such a caBundle", err)
	}
	switch {
	case strings.TrimSpace(string(text)) == "":
		s.judgeNoBundle(crd)
	case len(bundle) == 0:
		s.find("caBundle is not a list of certificates in PEM: nothing can be verified")
	case len(valid) == 0:
		s.find("every CA of caBundle has expired: nothing can be verified")
	default:
		last := slices.MaxFunc(valid, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if last.NotAfter.Sub(now) < soon {
			s.find("the last CA of caBundle expires on %s", last.NotAfter.UTC().Format(time.RFC3339))
		}
	}
}

// judgeNoBundle knows that an injector fills the caBundle in once the CRD is in a cluster, which
// gives it a UID. Crossplane would take it out of its CRDs again.
func (s *Status) judgeNoBundle(crd *CRD) {
	by, annotation := injector(crd.Annotations)
	if s.XRD != "" {
		by = ""
	}
	switch {
	case by == "" && s.URL == "":
		s.find("no caBundle: the API server trusts the CAs of its own system, which are seldom those of a Service")
	case by == "":
	case crd.UID == "":
		s.Notes = append(s.Notes, fmt.Sprintf("no caBundle yet: %s will fill it in, because of the annotation %s", by, annotation))
	default:
		s.find("no caBundle: %s has not filled it in, see its log; it is asked by the annotation %s", by, annotation)
	}
}

func (s *Status) dial(ctx context.Context, crd *CRD, bundle Bundle, o StatusOptions) {
	target, _ := TargetOf(crd)
	e := &Endpoint{Target: target, Bundle: bundle, Address: o.Address}
	s.Served = &Served{ServerName: target.ServerName()}
	chain, err := e.Served(ctx)
	if err != nil {
		s.find("no answer: %v", e.explain(err))
		return
	}
	s.Served.Chain = certificates(chain)
	if left := chain[0].NotAfter.Sub(o.Now); left > 0 && left < soon {
		s.find("the certificate that is served expires on %s", chain[0].NotAfter.UTC().Format(time.RFC3339))
	}
	if len(bundle) > 0 {
		if err := bundle.Verifies(chain, target.ServerName(), o.Now); err != nil {
			s.find("caBundle does not verify what is served for %s: %v", target.ServerName(), err)
			return
		}
	}
	s.Served.Verified = true
	for _, probe := range probes(crd) {
		if err := probe.Try(ctx, e, append(s.ReviewVersions, "v1")[0]); err != nil {
			s.find("%v", err)
			return
		}
	}
	s.Served.Convertible = true
}

// compare compares the CRD with webhookd's copy.
func (s *Status) compare(crd *CRD, o StatusOptions) {
	if o.Compare == nil {
		return
	}
	var findings []string
	s.Copy, findings = o.Compare(crd)
	s.Findings = append(s.Findings, findings...)
}

// judgeVersions asks for a converter of every version, served or not, since objects may be stored
// in it. Where the webhook itself has answered for all of them, the kind need not be known here.
func (s *Status) judgeVersions(crd *CRD, known []string, o StatusOptions) {
	if len(crd.Spec.Versions) < 2 || s.Served != nil && s.Served.Convertible && len(known) == 0 {
		return
	}
	if len(known) == 0 {
		hint := ""
		if o.Service == (Target{}) {
			hint = "; if this CRD is not for webhookd, limit the check with --service"
		}
		if s.Served == nil {
			s.find("no converter for this kind, neither compiled in nor in --rules%s", hint)
		}
		return
	}
	names := versionNames(crd)
	gone := slices.DeleteFunc(slices.Clone(crd.Status.StoredVersions), func(name string) bool { return slices.Contains(names, name) })
	for _, name := range append(names, gone...) {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(crd.Status.StoredVersions, name):
			s.find("no converter for a version in which objects may be stored: %s", name)
		default:
			s.find("no converter for this version: %s", name)
		}
	}
}
