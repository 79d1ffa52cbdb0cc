package conformance

import (
	"context"
	"fmt"

	"github.com/crdconvert/webhookd/internal/laws/hold"
)

func checkEmpty(ctx context.Context, r *run) (score hold.Score, _ string, err error) {
	for _, to := range r.runner.Versions {
		answer, err := r.ask(ctx, "v1", to)
		if err == nil {
			_, err = answer.converted()
		}
		var v *hold.ViolationError
		if err != nil {
			v = r.violation(call{to: to}, "%v", err)
		}
		count(&score, true, v)
	}
	return score, "", ctx.Err()
}

func checkV1beta1(ctx context.Context, r *run) (score hold.Score, untested string, err error) {
	err = r.each(ctx, func(c call) {
		if untested != "" {
			return
		}
		answer, err := r.ask(ctx, "v1beta1", c.to, c.object)
		if err == nil {
			_, err = answer.converted()
		}
		if err != nil && !r.converts(ctx, c) {
			return
		}
		if err != nil && score.Objects == 0 && !isHangup(err) {
			untested = fmt.Sprintf("refused, so name only v1 in conversionReviewVersions: %v", err)
			return
		}
		var v *hold.ViolationError
		switch want := group + "/v1beta1"; {
		case err != nil:
			v = r.violation(c, "%v", err)
		case answer.APIVersion != want || answer.Kind != "ConversionReview":
			v = r.violation(c, "answer is of apiVersion %q and kind %q, not %q and %q", answer.APIVersion, answer.Kind, want, "ConversionReview")
		case answer.Response.UID != answer.uid:
			v = r.violation(c, "uid is %q, not %q", answer.Response.UID, answer.uid)
		}
		count(&score, true, v)
	})
	return score, untested, err
}

// converts reports whether a review of v1 converts an object.
func (r *run) converts(ctx context.Context, c call) bool {
	_, err := r.convert(ctx, c.object, c.from, c.to)
	return err == nil
}

// unknown is a version of ConversionReview that does not exist.
const unknown = "v99"

func checkUnknown(ctx context.Context, r *run) (score hold.Score, _ string, err error) {
	err = r.each(ctx, func(c call) {
		if score.Objects > 0 {
			return
		}
		applies, v := refusesUnknown(ctx, r, c)
		if v != nil {
			v = r.smallest(ctx, c, v, refusesUnknown)
		}
		count(&score, applies, v)
	})
	if score.Objects == 0 {
		return score, unconverted, err
	}
	return score, "", err
}

func refusesUnknown(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
	if !r.converts(ctx, c) {
		return false, nil
	}
	answer, err := r.ask(ctx, unknown, c.to, c.object)
	switch {
	case err != nil && !isAnswer(err):
		return true, r.violation(c, "a review of %s/%s is not answered: %v", group, unknown, err)
	case err == nil && answer.Response != nil && answer.Response.Result.Status == "Success":
		return true, r.violation(c, "a review of %s/%s is answered with Success", group, unknown)
	}
	return true, nil
}
