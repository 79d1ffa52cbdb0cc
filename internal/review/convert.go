package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Convert converts one object to an apiVersion, in a ConversionReview of its own, so that all
// checks of a server apply. The error is the message of the answer, without the object's index.
func (r *Reviewer) Convert(ctx context.Context, object []byte, apiVersion string) ([]byte, error) {
	body := []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"convert","desiredAPIVersion":`)
	body = append(body, jsondoc.StringValue(apiVersion).Text()...)
	body = append(append(append(body, `,"objects":[`...), object...), `]}}`...)
	answer, err := r.Review(ctx, nil, body)
	if err != nil {
		return nil, err
	}
	var decoded struct {
		Response struct {
			ConvertedObjects []json.RawMessage `json:"convertedObjects"`
			Result           struct {
				Message string `json:"message"`
			} `json:"result"`
		} `json:"response"`
	}
	if err := json.Unmarshal(answer, &decoded); err != nil {
		return nil, fmt.Errorf("cannot read webhookd's own answer: %w", err)
	}
	if len(decoded.Response.ConvertedObjects) != 1 {
		return nil, errors.New(strings.TrimPrefix(decoded.Response.Result.Message, "objects[0] "))
	}
	return decoded.Response.ConvertedObjects[0], nil
}
