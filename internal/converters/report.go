package converters

import (
	"context"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Report is what a conversion notices beside its result: a converter has no log and no metric, so it tells its caller. One
// Report is for one object at a time. The zero Report is ready for use, and the methods named Note do nothing on nil, so a
// converter may note what it likes whether anybody asked for it or not. It is not safe for concurrent use.
type Report struct {
	// UnknownFields says that the object has fields that no version has in the converter's copy of the CRD: the copy is older
	// than the object.
	UnknownFields bool
	// CostLimit says that an expression reached its cost limit.
	CostLimit bool
	// TooLarge says that the conversion failed because what had to be kept does not fit into the annotations.
	TooLarge bool
	// KeptBytes are those of the names and values of annotations of the result in which webhookd keeps values.
	KeptBytes int
	// AnnotationBytes are those of all annotations of the result, as the API server counts them against
	// k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB. They are 0 where KeptBytes is.
	AnnotationBytes int
}

// NoteUnknown says that the object has fields that no version has in the converter's copy of the CRD.
func (r *Report) NoteUnknown() {
	if r != nil {
		r.UnknownFields = true
	}
}

// NoteCostLimit says that an expression reached its cost limit.
func (r *Report) NoteCostLimit() {
	if r != nil {
		r.CostLimit = true
	}
}

// NoteTooLarge says that the conversion fails because what had to be kept does not fit into the annotations.
func (r *Report) NoteTooLarge() {
	if r != nil {
		r.TooLarge = true
	}
}

// A ReportContext is the room for a context in which a conversion finds a Report. Whoever converts again and again keeps one,
// and spares what WithReport allocates (BenchmarkReview in review).
type ReportContext struct {
	context.Context //nolint:containedctx // it is one

	report *Report
}

// With is WithReport for one that has no room of its own: the context is good until the next With or Clear.
func (c *ReportContext) With(ctx context.Context, r *Report) context.Context {
	c.Context, c.report = ctx, r
	return c
}

// Clear lets go of the context and the Report.
func (c *ReportContext) Clear() { *c = ReportContext{} }

type reportKey struct{}

// Value implements context.Context.
func (c *ReportContext) Value(key any) any {
	if key == (reportKey{}) {
		return c.report
	}
	return c.Context.Value(key)
}

// WithReport returns a context in which a conversion finds r.
func WithReport(ctx context.Context, r *Report) context.Context {
	return (&ReportContext{}).With(ctx, r)
}

// ReportFrom returns the Report of a context, or nil if it has none: that can be noted in as well.
func ReportFrom(ctx context.Context) *Report {
	r, _ := ctx.Value(reportKey{}).(*Report)
	return r
}

// Measure sets KeptBytes and AnnotationBytes to those of a result, and reports whether any of its annotations keeps values of
// the given version. Both are 0 where the conversion left the metadata alone, so that most objects cost nothing.
func (r *Report) Measure(obj *jsondoc.Object, version string) (keeps bool, err error) {
	r.KeptBytes, r.AnnotationBytes = 0, 0
	metadata, err := obj.Get("metadata")
	if err != nil || metadata.Untouched() {
		return false, err
	}
	if text, obscured, err := obj.NestedText("metadata", "annotations"); err != nil || !keep.MayBeIn(text, obscured) {
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
		if of, own := keep.VersionOf(string(name)); own {
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
