package review_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

// checkAsClient checks what the API server's client wants of every answer, and returns its status.
// The client itself checks objects and metadata: see test/oracle, TestGoldens and FuzzAnswer.
func checkAsClient(body, answer []byte) (status string, err error) {
	var sent struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID     string          `json:"uid"`
			Objects json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &sent); err != nil {
		return "", fmt.Errorf("answered what cannot be decoded: %w", err)
	}
	var got apiextensionsv1.ConversionReview
	strict, err := kjson.UnmarshalStrict(answer, &got)
	if err := errors.Join(append(strict, err)...); err != nil {
		return "", fmt.Errorf("answer does not decode: %w", err)
	}
	if got.Kind != "ConversionReview" || got.APIVersion != sent.APIVersion || got.Request != nil || got.Response == nil ||
		string(got.Response.UID) != sent.Request.UID || got.Response.ConvertedObjects == nil {
		return "", errors.New("answer is not that of the request, or has null for no objects")
	}
	var objects []json.RawMessage
	result, count := got.Response.Result, len(got.Response.ConvertedObjects)
	unfit := func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsGraphic(r) }
	switch {
	case result.Status == "Failed" && (result.Message == "" || len(result.Message) > 1100 || strings.ContainsFunc(result.Message, unfit) || count > 0):
		return "", fmt.Errorf("failed with %d objects and the message %q", count, result.Message)
	case result.Status == "Failed":
		return result.Status, nil
	case result.Status != "Success" || result.Message != "":
		return "", fmt.Errorf("status is %q, with the message %q", result.Status, result.Message)
	case sent.Request.Objects != nil:
		err = json.Unmarshal(sent.Request.Objects, &objects)
	}
	if err != nil || len(objects) != count {
		return "", fmt.Errorf("returned %d objects, expected %d: %w", count, len(objects), err)
	}
	return result.Status, nil
}
