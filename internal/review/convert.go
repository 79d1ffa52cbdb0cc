package review

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Convert converts one object to an apiVersion, in a ConversionReview of its own, so that all
// checks of a server apply. The error is the message of the answer, without the object's index.
func (r *Reviewer) Convert(ctx context.Context, object []byte, apiVersion string) ([]byte, error) {
	body := []byte(`{"apiVersion":"` + versionV1 + `","kind":"ConversionReview","request":{"uid":"convert","desiredAPIVersion":`)
	body = append(body, jsondoc.StringValue(apiVersion).Text()...)
	body = append(append(append(body, `,"objects":[`...), object...), `]}}`...)
	c, err := r.review(ctx, body)
	defer r.end(c)
	switch {
	case err != nil:
		return nil, err
	case c.failed > 0:
		return nil, errors.New(strings.TrimPrefix(c.message, "objects[0] "))
	}
	_, converted, _ := bytes.Cut(c.out.AppendTo(nil), []byte(objectsBegin))
	return bytes.TrimSuffix(converted, []byte(objectsEnd)), nil
}
