package crdwire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// soon is when an end of validity is a finding.
const soon = 7 * 24 * time.Hour

// StatusOptions say what to look at.
type StatusOptions struct {
	// Service limits the judgement to CRDs that point at it; the zero Target judges all.
	Service Target
	// Dial asks what is served, at Address if that is not empty.
	Dial    bool
	Address string
	// Versions returns what versions of a kind can be converted offline; none if the kind is not known.
	Versions func(schema.GroupKind) []string
	// Compare holds a CRD against webhookd's copy of it, and returns the copy's file, empty where there is none, and what is
	// different. Nil compares nothing.
	Compare func(crd *CRD) (file string, findings []string)
	Now     time.Time
}

// A Status is what there is to say of a CRD.
type Status struct {
	Name           string        `json:"name"`
	Kind           string        `json:"kind"`
	Strategy       string        `json:"strategy"`
	Service        string        `json:"service,omitempty"` // NAMESPACE/NAME:PORT/PATH
	URL            string        `json:"url,omitempty"`
	ReviewVersions []string      `json:"conversionReviewVersions,omitempty"`
	CABundle       []Certificate `json:"caBundle,omitempty"`
	Versions       []Version     `json:"versions"`
	Served         *Served       `json:"serving,omitempty"`
	Copy           string        `json:"copy,omitempty"`      // the file of webhookd's own, with which the schemas were compared
	Elsewhere      bool          `json:"elsewhere,omitempty"` // it points at another webhook than was asked for
	Findings       []string      `json:"findings"`
}

// A Certificate is one of a bundle or of a chain.
type Certificate struct {
	Subject   string    `json:"subject"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
}

// A Version is one of a CRD.
type Version struct {
	Name        string `json:"name"`
	Served      bool   `json:"served"`
	Storage     bool   `json:"storage"`
	Stored      bool   `json:"stored"`                // objects may be stored in it
	Convertible *bool  `json:"convertible,omitempty"` // by this build and the rules
}

// Served is what answers.
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

// Concerns reports whether there is anything to convert in a CRD.
func Concerns(crd *CRD) bool {
	_, is := TargetOf(crd)
	return is || len(crd.Spec.Versions) > 1
}

// Inspect tells what a CRD points at, and all that is wrong with it.
func Inspect(ctx context.Context, crd *CRD, o StatusOptions) Status {
	s := Status{
		Name: crd.Name, Kind: schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}.String(),
		Strategy: string(apiextensionsv1.NoneConverter), Findings: []string{},
	}
	if crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy != "" {
		s.Strategy = string(crd.Spec.Conversion.Strategy)
	}
	known := o.Versions(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
	for _, v := range crd.Spec.Versions {
		version := Version{Name: v.Name, Served: v.Served, Storage: v.Storage, Stored: slices.Contains(crd.Status.StoredVersions, v.Name)}
		if len(known) > 0 {
			convertible := slices.Contains(known, v.Name)
			version.Convertible = &convertible
		}
		s.Versions = append(s.Versions, version)
	}
	target, is := TargetOf(crd)
	if !is {
		s.none(crd, known)
		s.compare(crd, o)
		return s
	}
	if target.IsService() {
		s.Service = fmt.Sprintf("%s/%s:%d%s", target.Namespace, target.Name, target.Port, target.Path)
	} else {
		s.URL = target.URL
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

func (s *Status) find(format string, args ...any) {
	s.Findings = append(s.Findings, fmt.Sprintf(format, args...))
}

// none judges a CRD without a webhook.
func (s *Status) none(crd *CRD, known []string) {
	if len(crd.Spec.Versions) > 1 && len(known) > 0 {
		s.find("nothing is converted, though webhookd can: the API server changes apiVersion alone, and fields are lost; see webhookd crd wire")
	}
}

func (s *Status) judgeBundle(crd *CRD, bundle Bundle, now time.Time) {
	text := caBundleOf(crd)
	valid := bundle.Unexpired(now)
	if _, err := ParseBundle(text); err != nil && len(bundle) > 0 {
		s.find("caBundle: %v; newer API servers take no CRD with such a caBundle", err)
	}
	switch {
	case strings.TrimSpace(string(text)) == "":
		if s.URL == "" {
			s.find("no caBundle: the API server trusts the CAs of its own system, which are seldom those of a Service")
		}
	case len(bundle) == 0:
		s.find("caBundle is not a list of certificates in PEM: nothing can be verified")
	case len(valid) == 0:
		s.find("every CA of caBundle has expired: nothing can be verified")
	default:
		last := valid[0].NotAfter
		for _, cert := range valid {
			if cert.NotAfter.After(last) {
				last = cert.NotAfter
			}
		}
		if last.Sub(now) < soon {
			s.find("the last CA of caBundle expires on %s", last.UTC().Format(time.RFC3339))
		}
	}
}

func (s *Status) dial(ctx context.Context, crd *CRD, bundle Bundle, o StatusOptions) {
	target, _ := TargetOf(crd)
	e := &Endpoint{Target: target, Bundle: bundle, Address: o.Address}
	s.Served = &Served{ServerName: target.ServerName()}
	chain, err := e.Served(ctx)
	if err != nil {
		s.find("nobody answers: %v", e.explain(err))
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
	version := "v1"
	if len(s.ReviewVersions) > 0 {
		version = s.ReviewVersions[0]
	}
	all := probes(crd)
	for i := range all {
		if err := all[i].Try(ctx, e, version); err != nil {
			s.find("%v", err)
			return
		}
	}
	s.Served.Convertible = true
}

// compare holds the CRD against webhookd's copy.
func (s *Status) compare(crd *CRD, o StatusOptions) {
	if o.Compare == nil {
		return
	}
	var findings []string
	s.Copy, findings = o.Compare(crd)
	s.Findings = append(s.Findings, findings...)
}

// judgeVersions asks for a converter of every version, served or not, since objects may be stored in it. Where the webhook
// itself has answered for all, it need not be known here.
func (s *Status) judgeVersions(crd *CRD, known []string, o StatusOptions) {
	if len(crd.Spec.Versions) < 2 || s.Served != nil && s.Served.Convertible && len(known) == 0 {
		return
	}
	if len(known) == 0 {
		hint := ""
		if o.Service == (Target{}) {
			hint = "; of a CRD that is not for webhookd, say with --service which are"
		}
		if s.Served == nil {
			s.find("no converter for this kind, neither compiled in nor in --rules%s", hint)
		}
		return
	}
	var missing []string
	for _, name := range versionNames(crd) {
		if !slices.Contains(known, name) {
			missing = append(missing, name)
		}
	}
	for _, name := range crd.Status.StoredVersions {
		if !slices.Contains(known, name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	for _, name := range missing {
		if slices.Contains(crd.Status.StoredVersions, name) {
			s.find("no converter for a version in which objects may be stored: %s", name)
		} else {
			s.find("no converter for this version: %s", name)
		}
	}
}
