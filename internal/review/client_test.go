package review_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// checkAsClient checks an answer as the API server's client does (k8s.io/apiextensions-apiserver
// v0.37, pkg/apiserver/conversion/webhook_converter.go), and is stricter in two ways: v1beta1 must
// follow the rules of v1, and only Success and Failed pass. It returns the status.
func checkAsClient(body, answer []byte) (status string, err error) {
	var sent struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID     string          `json:"uid"`
			Desired json.RawMessage `json:"desiredAPIVersion"`
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
	switch {
	case got.APIVersion != sent.APIVersion || got.Kind != sent.Kind:
		return "", fmt.Errorf("answer is a %s %s", got.APIVersion, got.Kind)
	case got.Request != nil || got.Response == nil:
		return "", errors.New("answer has a request or no response")
	case string(got.Response.UID) != sent.Request.UID:
		return "", fmt.Errorf("uid is %q, not %q", got.Response.UID, sent.Request.UID)
	}
	result := got.Response.Result
	switch result.Status {
	case "Failed":
		return result.Status, checkFailed(result.Message, got.Response)
	case "Success":
		var desired string
		var objects []json.RawMessage
		if err := errors.Join(
			json.Unmarshal(sent.Request.Desired, &desired), decodeOptional(sent.Request.Objects, &objects),
		); err != nil {
			return "", fmt.Errorf("request should have failed: %w", err)
		}
		return result.Status, checkConverted(result.Message, desired, objects, got.Response)
	}
	return "", fmt.Errorf("status is %q", result.Status)
}

func decodeOptional(text json.RawMessage, into any) error {
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

func checkFailed(message string, response *apiextensionsv1.ConversionResponse) error {
	unfit := func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsGraphic(r) }
	switch {
	case message == "":
		return errors.New("failed without a message")
	case len(message) > 1100:
		return fmt.Errorf("message of %d bytes", len(message))
	case strings.ContainsFunc(message, unfit):
		return fmt.Errorf("message is not fit to be shown: %q", message)
	case response.ConvertedObjects == nil || len(response.ConvertedObjects) > 0:
		return errors.New("failed with objects, or with null for none")
	}
	return nil
}

func checkConverted(message, desired string, sent []json.RawMessage, response *apiextensionsv1.ConversionResponse) error {
	if message != "" {
		return errors.New("success with a message")
	}
	if response.ConvertedObjects == nil {
		return errors.New("null for no objects")
	}
	if len(response.ConvertedObjects) != len(sent) {
		return fmt.Errorf("returned %d objects, expected %d", len(response.ConvertedObjects), len(sent))
	}
	for i := range sent {
		if err := checkObject(desired, sent[i], response.ConvertedObjects[i].Raw); err != nil {
			return fmt.Errorf("object at index %d: %w", i, err)
		}
	}
	return nil
}

// checkObject compares a converted object with its source. It accepts anything for a source that
// the API server itself cannot decode, such as one with the number 1e400.
func checkObject(desired string, sent, got []byte) error {
	var source, object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(sent, &source); err != nil {
		return nil //nolint:nilerr // see above
	}
	if source["apiVersion"] == desired {
		if !bytes.Equal(sent, got) {
			return errors.New("object of the desired version was changed")
		}
		return nil
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(got, &object); err != nil {
		return err
	}
	if object["apiVersion"] != desired {
		return fmt.Errorf("invalid groupVersion (expected %v, received %v)", desired, object["apiVersion"])
	}
	if object["kind"] != source["kind"] {
		return fmt.Errorf("invalid kind (expected %v, received %v)", source["kind"], object["kind"])
	}
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", object["metadata"])
	}
	before, _ := source["metadata"].(map[string]any) // server-side apply sends null or none
	for _, name := range []string{"name", "namespace", "uid"} {
		was, _ := before[name].(string)
		is, _ := meta[name].(string)
		if was != is {
			return fmt.Errorf("must have the same %s: %v != %v", name, was, is)
		}
	}
	return errors.Join(checkStrings("labels", before, meta), checkStrings("annotations", before, meta))
}

// checkStrings checks the labels or annotations as the client does.
func checkStrings(name string, before, after map[string]any) error {
	if after[name] == nil {
		return nil
	}
	was, wasMap := before[name].(map[string]any)
	is, isMap := after[name].(map[string]any)
	if before[name] != nil && !wasMap {
		return nil // cannot be stored
	}
	if !isMap {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, after[name])
	}
	changed := len(was) != len(is)
	values := map[string]string{}
	for key, v := range is {
		text, ok := v.(string)
		if !ok {
			if before == nil || was[key] == nil {
				return fmt.Errorf("metadata.%s[%s] must be a string, but is %T", name, key, v)
			}
			return nil // cannot be stored
		}
		values[key] = text
		changed = changed || was[key] != v
	}
	if !changed {
		return nil
	}
	path := field.NewPath("metadata", name)
	if name == "labels" {
		return metav1validation.ValidateLabels(values, path).ToAggregate()
	}
	return apivalidation.ValidateAnnotations(values, path).ToAggregate()
}

// checkAsClient itself must find errors.
func TestCheckAsClient(t *testing.T) {
	t.Parallel()
	body := request(widget(`"metadata":{"name":"a","labels":{"k":"v"}}`))
	object := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","labels":{"k":"v"}}}`
	with := func(uid, objects, result string) string {
		return `{"kind":"ConversionReview","apiVersion":"` + reviewV1 + `","response":{"uid":"` + uid +
			`","convertedObjects":[` + objects + `],"result":` + result + `}}`
	}
	const success = `{"status":"Success"}`
	if status, err := checkAsClient(body, []byte(with(uid, object, success))); status != "Success" || err != nil {
		t.Fatalf("a good answer is refused: %s %v", status, err)
	}
	tests := map[string]string{
		"other uid":            with("x", object, success),
		"no object":            with(uid, "", success),
		"two objects":          with(uid, object+","+object, success),
		"status Failure":       with(uid, "", `{"status":"Failure","message":"m"}`),
		"no message":           with(uid, "", `{"status":"Failed"}`),
		"failed with objects":  with(uid, object, `{"status":"Failed","message":"m"}`),
		"message of two lines": with(uid, "", `{"status":"Failed","message":"a\nb"}`),
		"repeated name":        with(uid, object, `{"status":"Success","status":"Success"}`),
		"unknown name":         with(uid, object, `{"Status":"Success"}`),
		"null":                 strings.Replace(with(uid, object, success), object, "null", 1),
		"other version":        strings.Replace(with(uid, object, success), "com/v1", "com/v2", 1),
		"other review":         strings.Replace(with(uid, object, success), "s.io/v1", "s.io/v1beta1", 1),
		"other kind":           strings.Replace(with(uid, object, success), "Widget", "Gadget", 1),
		"other name":           strings.Replace(with(uid, object, success), `"a"`, `"b"`, 1),
		"no metadata":          strings.Replace(with(uid, object, success), `"metadata"`, `"data"`, 1),
		"invalid label":        strings.Replace(with(uid, object, success), `"v"}`, `"-"}`, 1),
		"label of a number":    strings.Replace(with(uid, object, success), `"k":"v"`, `"l":1`, 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if status, err := checkAsClient(body, []byte(text)); err == nil {
				t.Errorf("passes with status %s: %s", status, text)
			}
		})
	}
}
