package conformance

import (
	"context"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Check is one thing that is required of a webhook.
type Check struct {
	// Name is short, and the same in every release.
	Name string
	// Requires says what is required, and Otherwise what happens to users of a webhook that fails.
	Requires, Otherwise string

	// run also says why the check may apply to no object, "" if none is converted.
	run func(ctx context.Context, r *run) (score hold.Score, untested string, err error)
}

// reviewCheck is the first of Checks. Without answers, no other check says anything.
const reviewCheck = "review"

// Checks returns all checks: first what kube-apiserver requires of an answer, then the laws.
func Checks() []Check {
	return []Check{
		{
			reviewCheck, "one valid object is answered with HTTP 200, a ConversionReview of its version, Success and one object",
			"kube-apiserver fails the request that needs the conversion", one(checkReview),
		},
		{
			"uid", "the answer has the uid of the request",
			"kube-apiserver refuses the answer", one(checkUID),
		},
		{
			"version", "each object is at desiredAPIVersion, and its kind is the same",
			"kube-apiserver refuses the answer", one(checkVersion),
		},
		{
			"metadata", hold.RowOf(hold.Metadata).Says,
			"kube-apiserver refuses the answer if name, namespace, uid, a label or an annotation is wrong, and ignores the other changes", one(checkMetadata),
		},
		{
			"order", "several objects are answered with as many, in their order",
			"kube-apiserver takes each for the object at the same index, or refuses the answer", together(false),
		},
		{
			"mixed versions", "the objects of a review may be at several versions",
			"a list of objects that were stored at several versions cannot be read", together(true),
		},
		{
			"empty list", "a review without objects is answered with Success and none",
			"programs that probe the webhook take it for broken; kube-apiserver sends no such review", checkEmpty,
		},
		{
			"v1beta1", "a review of v1beta1 is answered in v1beta1",
			"kube-apiserver refuses the answer if the CRD's conversionReviewVersions begins with v1beta1", checkV1beta1,
		},
		{
			"unknown review version", "a version of reviews that does not exist is answered with an HTTP error or Failed",
			"a later version of the API is answered in words that it does not have", one(checkUnknown),
		},
		law(hold.Deterministic),
		{
			"concurrency", "reviews at the same time are answered as one by one",
			"an object is stored with the fields of another one, or fails now and then", checkConcurrency,
		},
		law(hold.Total), law(hold.LargeNumbers), law(hold.Prune), law(hold.RoundTrip), law(hold.Edit),
	}
}

// Names returns the names of all checks.
func Names() []string {
	checks := Checks()
	names := make([]string, 0, len(checks))
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return names
}

// law makes a check of a row of the table of laws.
func law(law hold.Law) Check {
	row := hold.RowOf(law)
	return Check{row.Check, row.Says, row.Otherwise, func(ctx context.Context, r *run) (hold.Score, string, error) {
		score, err := r.runner.Score(ctx, law, r.Objects)
		return score, row.Untested, err
	}}
}

// one makes a check of the answer for one object. The test returns nil if all is well, and false if
// another check has to say what is wrong.
func one(test func(ctx context.Context, r *run, c call) (applies bool, v *hold.ViolationError)) func(context.Context, *run) (hold.Score, string, error) {
	return func(ctx context.Context, r *run) (hold.Score, string, error) {
		score, err := r.runner.Judge(ctx, r.Objects, func(object []byte, from, to string) (bool, *hold.ViolationError) {
			return test(ctx, r, call{from: from, to: to, object: object})
		})
		return score, "", err
	}
}

func checkReview(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
	answer, err := r.ask(ctx, "v1", c.to, c.object)
	if err == nil {
		_, err = answer.converted()
	}
	switch {
	case err != nil:
		return true, r.violation(c, "%v", err)
	case answer.APIVersion != group+"/v1" || answer.Kind != "ConversionReview":
		return true, r.violation(c, "answer is of apiVersion %q and kind %q, not %q and %q", answer.APIVersion, answer.Kind, group+"/v1", "ConversionReview")
	}
	return true, nil
}

func checkUID(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
	answer, err := r.ask(ctx, "v1", c.to, c.object)
	switch {
	case err != nil || answer.Response == nil:
		return false, nil //nolint:nilerr // the check of the review says so
	case answer.Response.UID != answer.uid:
		return true, r.violation(c, "uid is %q, not %q", answer.Response.UID, answer.uid)
	}
	return true, nil
}

func checkVersion(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
	text, err := r.convert(ctx, c.object, c.from, c.to)
	if err != nil {
		return false, nil //nolint:nilerr // the check of the review says so
	}
	object := read(text)
	if want := r.CRD.Group + "/" + c.to; object["apiVersion"] != want || object["kind"] != r.CRD.Kind {
		return true, r.violation(c, "object is of apiVersion %v and kind %v, not %s and %s", object["apiVersion"], object["kind"], want, r.CRD.Kind)
	}
	return true, nil
}

func checkMetadata(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
	text, err := r.convert(ctx, c.object, c.from, c.to)
	if err != nil {
		return false, nil //nolint:nilerr // the check of the review says so
	}
	object := read(text)
	was, _ := read(c.object)["metadata"].(map[string]any)
	is, ok := object["metadata"].(map[string]any)
	if !ok && was != nil {
		return true, r.violation(c, "object without metadata")
	}
	for _, name := range tree.Names(was, is) {
		if name != "labels" && name != "annotations" && !tree.Equal(was[name], is[name]) {
			return true, r.violation(c, "metadata.%s is %v, not %v", name, textOf(is[name]), textOf(was[name]))
		}
	}
	if path := generate.BadEntry(object); path != "" && generate.BadEntry(read(c.object)) == "" {
		return true, r.violation(c, "label or annotation that kube-apiserver refuses: %s", path)
	}
	return true, nil
}
