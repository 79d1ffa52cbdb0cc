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
		score.Count(true, v)
	}
	return score, "", ctx.Err()
}

func checkV1beta1(ctx context.Context, r *run) (score hold.Score, untested string, err error) {
	answered := false
	score, err = r.runner.Judge(ctx, r.Objects, func(object []byte, from, to string) (bool, *hold.ViolationError) {
		if untested != "" {
			return false, nil
		}
		c := call{from: from, to: to, object: object}
		answer, err := r.ask(ctx, "v1beta1", to, object)
		if err == nil {
			_, err = answer.converted()
		}
		switch want := group + "/v1beta1"; {
		case err != nil && !r.converts(ctx, c):
			return false, nil
		case err != nil && !answered && !isHangup(err):
			untested = fmt.Sprintf("refused, so name only v1 in conversionReviewVersions: %v", err)
			return false, nil
		case err != nil:
			return true, r.violation(c, "%v", err)
		case answer.APIVersion != want || answer.Kind != "ConversionReview":
			return true, r.violation(c, "answer is of apiVersion %q and kind %q, not %q and %q", answer.APIVersion, answer.Kind, want, "ConversionReview")
		case answer.Response.UID != answer.uid:
			return true, r.violation(c, "uid is %q, not %q", answer.Response.UID, answer.uid)
		}
		answered = true
		return true, nil
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

func checkUnknown(ctx context.Context, r *run, c call) (bool, *hold.ViolationError) {
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
