package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// A sample answers in the way of the server that Kubernetes' own tests and documentation use
// (crd-conversion-webhook of its image agnhost): the body is decoded by the serializer of
// apimachinery, each object into a map, and the first that fails is the answer. None of its text is
// here; its conversion of hostPort, which panics on anything but a string, is not either.
type sample struct{ serializer runtime.Serializer }

func newSample() (http.Handler, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(apiextensionsv1.AddToScheme(scheme), apiextensionsv1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return &sample{json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{})}, nil
}

// ServeHTTP implements http.Handler.
func (s *sample) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		body = nil // the sample goes on without
	}
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "another media type", http.StatusBadRequest)
		return
	}
	decoded, _, err := s.serializer.Decode(body, nil, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch review := decoded.(type) {
	case *apiextensionsv1.ConversionReview:
		objects, result := convertAll(review.Request.Objects, review.Request.DesiredAPIVersion) // without a request, a panic
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: objects, Result: result}
		review.Request = &apiextensionsv1.ConversionRequest{}
	case *apiextensionsv1beta1.ConversionReview:
		objects, result := convertAll(review.Request.Objects, review.Request.DesiredAPIVersion)
		review.Response = &apiextensionsv1beta1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: objects, Result: result}
		review.Request = &apiextensionsv1beta1.ConversionRequest{}
	default:
		http.Error(w, "another kind", http.StatusBadRequest)
		return
	}
	if err := s.serializer.Encode(decoded, w); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func convertAll(objects []runtime.RawExtension, to string) ([]runtime.RawExtension, metav1.Status) {
	converted := make([]runtime.RawExtension, 0, len(objects))
	for i := range objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(objects[i].Raw); err != nil {
			return nil, failure(err)
		}
		if err := convert(object, to); err != nil {
			return nil, failure(err)
		}
		object.SetAPIVersion(to)
		converted = append(converted, runtime.RawExtension{Object: object})
	}
	return converted, metav1.Status{Status: metav1.StatusSuccess}
}

func failure(err error) metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
}

// convert is the conversion of the CronTab.
func convert(object *unstructured.Unstructured, to string) error {
	if object.GetKind() != "CronTab" || object.GetAPIVersion() != "example.com/v1beta1" || to != "example.com/v1" {
		return fmt.Errorf("no conversion of %q from %q to %q", object.GetKind(), object.GetAPIVersion(), to)
	}
	text, ok := object.Object["hostPort"].(string)
	delete(object.Object, "hostPort")
	if !ok {
		return nil
	}
	host, port := split(text)
	object.Object["host"] = *host
	if port != nil {
		object.Object["port"] = *port
	}
	return nil
}

// split parts hostPort at its last colon.
func split(text string) (host, port *string) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return &text, nil
	}
	first, last := text[:at], text[at+1:]
	return &first, &last
}
