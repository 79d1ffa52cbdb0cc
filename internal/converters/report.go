package converters

import (
	"context"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Report has what a conversion observes apart from its result, since a converter has no log and
// no metric. It is for one object at a time and not safe for concurrent use. The zero Report is
// ready for use.
type Report struct {
	// UnknownFields says that the object has fields that no version in the converter's copy of the
	// CRD has, so the copy is older than the object.
	UnknownFields bool
	// Searched is set before the conversion, or nil.
	Searched *Searched
	// CostLimit says that an expression reached its cost limit.
	CostLimit bool
	// TooLarge says that the conversion failed because the kept values do not fit into the
	// annotations.
	TooLarge bool
	// KeptBytes is the size of the names and values of the result's annotations with kept values.
	KeptBytes int
	// AnnotationBytes is the size of all annotations of the result, as the API server counts them
	// against k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB. It is 0 if
	// KeptBytes is.
	AnnotationBytes int
}

// A ReportContext is a context in which a conversion finds a Report. A caller that converts many
// objects reuses one, which saves allocations (BenchmarkReview in review).
type ReportContext struct {
	context.Context //nolint:containedctx // it is one

	report *Report
}

// With sets the parent context and the Report. The returned context is valid until the next With or
// Clear.
func (c *ReportContext) With(ctx context.Context, r *Report) context.Context {
	c.Context, c.report = ctx, r
	return c
}

// Clear drops the context and the Report.
func (c *ReportContext) Clear() { *c = ReportContext{} }

type reportKey struct{}

// Value implements context.Context.
func (c *ReportContext) Value(key any) any {
	if key == (reportKey{}) {
		return c.report
	}
	return c.Context.Value(key)
}

// ReportFrom returns the Report of a context, a new one if it has none.
func ReportFrom(ctx context.Context) *Report {
	if r, _ := ctx.Value(reportKey{}).(*Report); r != nil {
		return r
	}
	return &Report{}
}

// Measure sets KeptBytes and AnnotationBytes for a result, and reports whether an annotation has
// kept values of the given version. Both are 0 if the conversion did not change metadata, so most
// objects cost nothing.
func (r *Report) Measure(obj *jsondoc.Object, version string) (keeps bool, err error) {
	r.KeptBytes, r.AnnotationBytes = 0, 0
	metadata, err := obj.Get("metadata")
	if err != nil || metadata.Untouched() {
		return false, err
	}
	if text, obscured, err := obj.NestedText("metadata", "annotations"); err != nil || !annotation.MayBeIn(text, obscured) {
		return false, err
	}
	annotations, err := metadata.Member("annotations")
	if err != nil || annotations.Kind() != jsondoc.Map {
		return false, err
	}
	all := 0
	err = annotations.Filter(func(name []byte, m jsondoc.Member) bool {
		size := len(name)
		if v := m.Value(); v.Kind() == jsondoc.String {
			size += jsondoc.UnquotedLen(v.Text())
		}
		all += size
		if of, own := annotation.VersionOf(string(name)); own {
			r.KeptBytes += size
			keeps = keeps || of == version
		}
		return true
	})
	if r.KeptBytes > 0 {
		r.AnnotationBytes = all
	}
	return keeps, err
}
