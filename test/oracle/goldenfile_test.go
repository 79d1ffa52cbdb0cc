package oracle_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// readGolden fails with an unsendableError if the client cannot send the request.
func readGolden(file string) (*golden, error) {
	var request struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID               string            `json:"uid"`
			DesiredAPIVersion string            `json:"desiredAPIVersion"`
			Objects           []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	if err := unique(file); err != nil {
		return nil, err
	}
	if err := read(file, &request); err != nil {
		return nil, unsendableError("not a review: " + err.Error())
	}
	group, review, _ := strings.Cut(request.APIVersion, "/")
	desired, err := schema.ParseGroupVersion(request.Request.DesiredAPIVersion)
	switch {
	case request.Kind != "ConversionReview" || group != "apiextensions.k8s.io" || review != "v1" && review != "v1beta1":
		return nil, unsendableError("not a review of v1 or v1beta1")
	case request.Request.UID == "", len(request.Request.UID) > 1<<10:
		return nil, unsendableError("a uid that is none")
	case err != nil || desired.Group == "":
		return nil, unsendableError("a desiredAPIVersion without a group")
	case len(request.Request.Objects) == 0:
		return nil, unsendableError("a review without objects: it makes no call")
	}
	g := &golden{review: review, desired: desired}
	for _, text := range request.Request.Objects {
		u, err := stored(text)
		if err != nil {
			return nil, unsendableError("an object that the API server cannot hold: " + err.Error())
		}
		if halves(text, u) {
			return nil, unsendableError("an object that the API server cannot hold: half a surrogate pair")
		}
		if u.GroupVersionKind().Group != desired.Group || u.GroupVersionKind().Version == "" {
			return nil, unsendableError("an object of another group: " + u.GetAPIVersion())
		}
		g.objects = append(g.objects, u)
	}
	if err := g.readAnswer(strings.TrimSuffix(file, ".request.json") + ".response.json"); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *golden) readAnswer(file string) error {
	var answer struct {
		metav1.Status `json:",inline"` // of a request that was rejected

		Response struct {
			ConvertedObjects []json.RawMessage `json:"convertedObjects"`
			Result           metav1.Status     `json:"result"`
		} `json:"response"`
	}
	if err := read(file, &answer); err != nil {
		return err
	}
	if answer.Response.Result.Status != metav1.StatusSuccess {
		g.message = cmp.Or(answer.Response.Result.Message, answer.Message)
		if slices.ContainsFunc(g.objects, g.done) {
			return unsendableError("objects at the desired version, so that the message counts others")
		}
		return nil
	}
	for _, text := range answer.Response.ConvertedObjects {
		u, err := stored(text)
		if err != nil {
			return err
		}
		g.converted = append(g.converted, u)
	}
	return nil
}

// stored returns the object as the API server has it when it comes from its storage: 1.0 has become
// 1.
func stored(text []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	written, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	again := &unstructured.Unstructured{}
	if err := again.UnmarshalJSON(written); err != nil {
		return nil, err
	}
	return again, nil
}

// halves reports whether text, which says u, holds half a surrogate pair: decoding replaces it.
func halves(text []byte, u *unstructured.Unstructured) bool {
	const replacement = "\ufffd"
	decoded, err := u.MarshalJSON()
	return err == nil && bytes.Contains(decoded, []byte(replacement)) &&
		!bytes.Contains(text, []byte(replacement)) && !bytes.Contains(text, []byte(`\ufffd`))
}

// read decodes a file as the API server does.
func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// unique fails with an unsendableError if an object of the file has a name twice: the API server
// holds them in maps.
func unique(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var decoded map[string]any
	twice, err := kjson.UnmarshalStrict(text, &decoded)
	if err := errors.Join(append(twice, err)...); err != nil {
		return unsendableError("what it could not decode: " + err.Error())
	}
	return nil
}

// done reports whether the object is at the desired version, so that the client does not send it.
func (g *golden) done(u *unstructured.Unstructured) bool {
	return u.GetAPIVersion() == g.desired.String()
}

func (g *golden) versions() []string {
	all := make([]string, 0, len(g.objects)+1)
	all = append(all, g.desired.Version)
	for _, u := range g.objects {
		all = append(all, u.GroupVersionKind().Version)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
