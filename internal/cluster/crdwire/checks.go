package crdwire

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// soon is the remaining validity that is noted.
const soon = 7 * 24 * time.Hour

// listVersions lists the versions.
func (s *inspected) listVersions(context.Context) {
	all := make([]string, len(s.Spec.Versions))
	for i, v := range s.Spec.Versions {
		var notes []string
		for note, is := range map[string]bool{
			"not served": !v.Served, "storage": v.Storage, "deprecated": v.Deprecated,
			"objects may be stored in it": !v.Storage && slices.Contains(s.Status.StoredVersions, v.Name),
		} {
			if is {
				notes = append(notes, note)
			}
		}
		slices.Sort(notes)
		if all[i] = v.Name; len(notes) > 0 {
			all[i] += " (" + strings.Join(notes, ", ") + ")"
		}
		if v.DeprecationWarning != nil {
			all[i] += ": " + *v.DeprecationWarning
		}
	}
	s.say(OK, "%s", strings.Join(all, ", "))
}

// judgeWebhook looks at where the CRD points, and whether it has to.
func (s *inspected) judgeWebhook(context.Context) {
	if why := s.target.Unreachable(); why != "" {
		s.say(Note, "%s: %s", s.target.URL, why)
	}
	reviews := s.Spec.Conversion.Webhook.ConversionReviewVersions
	if !slices.Contains(reviews, "v1") && !slices.Contains(reviews, "v1beta1") {
		s.say(Wrong, "the API server sends none of these review versions, write [v1]: %s", strings.Join(reviews, ", "))
	}
	if need := NeedOf(s.CRD, Target{}); !need.Any() {
		s.say(Note, "%s: no version needs a webhook, set spec.conversion to strategy None where the CRD comes from", s.target)
	}
	s.sayOK("%s, with ConversionReview %s", s.target.Address(), strings.Join(reviews, ", "))
}

// judgeDefinition compares spec.conversion with that of the XRD, which Crossplane writes to the
// CRD.
func (s *inspected) judgeDefinition(ctx context.Context) {
	definition, _, err := ReadDefinition(ctx, s.o.API, s.CRD)
	if err != nil {
		s.failed("", err)
		return
	}
	at, is := TargetOf(definition)
	switch {
	case !is && s.webhook:
		s.say(Wrong, "Crossplane will remove spec.conversion, which the XRD %s does not have: set it there, see webhookd crd apply", definition.Name)
	case is && (!s.webhook || at != s.target || !bytes.Equal(caBundleOf(definition), caBundleOf(s.CRD))):
		s.say(Wrong, "Crossplane will replace spec.conversion by that of the XRD %s: %s", definition.Name, at)
	}
	s.sayOK("Crossplane makes it of %s, which has the same spec.conversion", definition.Name)
}

// judgeOwners names the field managers of spec.conversion, without those of caBundle alone. Two
// that write parts of it write different texts.
func (s *inspected) judgeOwners(context.Context) {
	var names []string
	var last time.Time
	for _, path := range [][]string{{"f:strategy"}, {"f:webhook", "f:clientConfig", "f:service"}, {"f:webhook", "f:clientConfig", "f:url"}} {
		for _, o := range ownersOf(s.CRD, append([]string{"f:spec", "f:conversion"}, path...)...) {
			names = append(names, o.manager)
			if o.since.After(last) {
				last = o.since
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) > 1:
		s.say(Note, "several managers write spec.conversion, and each can undo what another wrote: %s", strings.Join(names, ", "))
	case len(names) == 1:
		s.say(OK, "written by %s on %s", names[0], last.UTC().Format(time.DateOnly))
	}
}

// judgeService asks for the Service, its port and its endpoints.
func (s *inspected) judgeService(ctx context.Context) {
	ready, err := s.o.API.ReadyEndpoints(ctx, s.target.Namespace, s.target.Name, s.target.Port)
	switch {
	case apierrors.IsNotFound(err):
		s.say(Wrong, "%s/%s: there is no such Service", s.target.Namespace, s.target.Name)
	case err != nil:
		s.failed("", err)
	case ready == 0:
		s.say(Wrong, "%s/%s: no endpoint of the Service is ready, see its pods", s.target.Namespace, s.target.Name)
	}
	s.sayOK("%d ready endpoints", ready)
}

func (s *inspected) judgeBundle(context.Context) {
	text, valid := caBundleOf(s.CRD), s.bundle.Unexpired(s.o.Now)
	if _, err := ParseBundle(text); err != nil && len(s.bundle) > 0 {
		s.say(Wrong, "%v; newer API servers reject a CRD with such a caBundle", err)
	}
	switch {
	case strings.TrimSpace(string(text)) == "":
		s.judgeNoBundle()
		return
	case len(s.bundle) == 0:
		s.say(Wrong, "it is not a list of certificates in PEM: nothing can be verified")
	case len(valid) == 0:
		s.say(Wrong, "every CA has expired: nothing can be verified")
	default:
		last := slices.MaxFunc(valid, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if last.NotAfter.Sub(s.o.Now) < soon {
			s.say(Note, "the last CA expires on %s", last.NotAfter.UTC().Format(time.RFC3339))
		}
	}
	s.sayOK("trusts %s", list(s.bundle))
}

func list(certs []*x509.Certificate) string {
	all := make([]string, len(certs))
	for i, cert := range certs {
		all[i] = fmt.Sprintf("%s until %s", NameOf(cert), cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return strings.Join(all, "; ")
}

// judgeNoBundle knows that an injector or a Job fills the caBundle in once the CRD is in a cluster,
// which gives it a UID. Crossplane would take it out of its CRDs again.
func (s *inspected) judgeNoBundle() {
	by, annotation := injector(s.Annotations)
	if _, made := xrd.Owner(s.CRD); made {
		by = ""
	}
	switch {
	case by == "" && s.target.IsService() && s.UID == "":
		s.say(Note, "there is none: fill it in, or let the cluster do so")
	case by == "" && s.target.IsService():
		s.say(Wrong, "there is none: the API server trusts the CAs of its own system, which are seldom those of a Service")
	case by == "":
		s.say(OK, "there is none: the API server trusts the CAs of its own system")
	case s.UID == "":
		s.say(Note, "%s will fill it in, because of the annotation %s", by, annotation)
	default:
		s.say(Wrong, "%s has not filled it in, see its log; it is asked by the annotation %s", by, annotation)
	}
}

// reachable reports whether there is a way to the webhook: the one of API servers, which a pod of
// the cluster has, too, or one that is given.
func (s *inspected) reachable() bool {
	return s.o.Address != "" || s.o.API != nil && (s.o.API.InCluster || s.o.Read && s.target.IsService())
}

// judgeServed compares the certificate that is served with caBundle and the name of the target.
// That this program does not reach the webhook is no fault of it, if API servers go another way.
func (s *inspected) judgeServed(ctx context.Context) {
	e := &Endpoint{Target: s.target, Bundle: s.bundle, Address: s.o.Address}
	unreached := Wrong
	if s.o.Address == "" && !s.o.API.InCluster {
		dial, err := s.o.API.Forward(ctx, s.target.Namespace, s.target.Name, s.target.Port)
		if err != nil {
			s.say(NotChecked, "%s", oneLine(err))
			return
		}
		e.Dial, unreached = dial, NotChecked
	}
	chain, err := e.Served(ctx)
	if err != nil {
		s.say(unreached, "no answer: %s", oneLine(e.explain(err)))
		return
	}
	name := s.target.ServerName()
	if len(s.bundle) > 0 {
		err = s.bundle.Verifies(chain, name, s.o.Now)
	} else {
		err = chain[0].VerifyHostname(name)
	}
	if err != nil {
		s.say(Wrong, "caBundle does not verify what is served for %s: %v", name, err)
		return
	}
	s.endpoint, s.verified = e, true
	if chain[0].NotAfter.Sub(s.o.Now) < soon {
		s.say(Note, "what is served expires on %s", chain[0].NotAfter.UTC().Format(time.RFC3339))
	}
	s.sayOK("%s for %s, verified", list(chain[:1]), name)
}

// tryReviews posts test reviews to each version.
func (s *inspected) tryReviews(ctx context.Context) {
	for _, probe := range probes(s.CRD) {
		if err := probe.Try(ctx, s.endpoint, append(s.Spec.Conversion.Webhook.ConversionReviewVersions, "v1")[0]); err != nil {
			s.say(Wrong, "%v", err)
			return
		}
	}
	s.say(OK, "test reviews succeed")
}

// read has the API server read an object at each served version.
func (s *inspected) read(ctx context.Context) {
	var at []string
	for _, v := range s.Spec.Versions {
		if !v.Served {
			continue
		}
		resource := runtimeschema.GroupVersionResource{Group: s.Spec.Group, Version: v.Name, Resource: s.Spec.Names.Plural}
		object, err := s.o.API.First(ctx, cluster.CollectionPath(resource, ""))
		switch {
		case err != nil:
			s.failed(v.Name+": ", err)
		case object == nil:
			s.say(NotChecked, "there is no object to read")
			return
		}
		at = append(at, v.Name)
	}
	s.sayOK("an object was read at %s", strings.Join(at, ", "))
}

// judgeStored says what keeps versions that objects are no longer written in.
func (s *inspected) judgeStored(context.Context) {
	if gone := without(s.Status.StoredVersions, versionNames(s.CRD)); len(gone) > 0 {
		s.say(Wrong, "objects may be stored in a version that spec.versions lacks: %s", strings.Join(gone, ", "))
	}
	s.say(Note, "objects that were not written since may be stored in each of %s, which keeps these versions: webhookd migrate %s --dry-run",
		strings.Join(s.Status.StoredVersions, ", "), s.Name)
}

// without returns the versions that others do not have, each once.
func without(versions, others []string) []string {
	left := slices.DeleteFunc(slices.Clone(versions), func(name string) bool { return slices.Contains(others, name) })
	slices.Sort(left)
	return slices.Compact(left)
}

// judgeVersions asks for a converter of every version, served or not, since objects may be stored
// in it.
func (s *inspected) judgeVersions(context.Context) {
	switch {
	case len(s.known) == 0 && s.target.Same(s.o.Service):
		s.say(Wrong, "no converter for this kind, neither compiled in nor in --rules")
		return
	case len(s.known) == 0:
		s.say(NotChecked, "no converter for this kind; another webhook may have one")
		return
	case !s.webhook:
		s.say(Wrong, "objects are not converted although webhookd can: see webhookd crd wire")
		return
	}
	if missing := without(append(versionNames(s.CRD), s.Status.StoredVersions...), s.known); len(missing) > 0 {
		s.say(Wrong, "no converter for %s", strings.Join(missing, ", "))
	}
	s.sayOK("webhookd converts %s", strings.Join(versionNames(s.CRD), ", "))
}

// failed says that something could not be read. Without the right to, it is not checked.
func (s *inspected) failed(what string, err error) {
	state := Wrong
	if apierrors.IsForbidden(err) {
		state = NotChecked
	}
	s.say(state, "%s%s", what, oneLine(err))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
