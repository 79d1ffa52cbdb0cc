package main

import (
	"context"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// newControllerRuntime returns controller-runtime's handler with a typed CronTab. Its spec is kept
// as text, which favours it: with a struct, fields that the struct lacks are lost.
func newControllerRuntime() (http.Handler, error) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "CronTab"}, &cronTabV1{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "CronTab"}, &cronTabV1beta1{})
	converter, err := conversion.NewHubSpokeConverter(&cronTabV1{}, conversion.NewSpokeConverter(&cronTabV1beta1{}, toSpoke, toHub))(scheme)
	if err != nil {
		return nil, err
	}
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(schema.GroupKind{Group: "example.com", Kind: "CronTab"}, converter); err != nil {
		return nil, err
	}
	return conversion.NewWebhookHandler(scheme, registry), nil
}

type cronTabV1beta1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	HostPort          *string               `json:"hostPort,omitempty"`
	Spec              *apiextensionsv1.JSON `json:"spec,omitempty"`
}

type cronTabV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Host              *string               `json:"host,omitempty"`
	Port              *string               `json:"port,omitempty"`
	Spec              *apiextensionsv1.JSON `json:"spec,omitempty"`
}

// Hub marks v1 as the hub.
func (*cronTabV1) Hub() {}

// DeepCopyObject implements runtime.Object; the conversion handler does not call it.
func (in *cronTabV1) DeepCopyObject() runtime.Object { out := *in; return &out }

// DeepCopyObject implements runtime.Object; the conversion handler does not call it.
func (in *cronTabV1beta1) DeepCopyObject() runtime.Object { out := *in; return &out }

func toHub(_ context.Context, from *cronTabV1beta1, to *cronTabV1) error {
	to.ObjectMeta, to.Spec = from.ObjectMeta, from.Spec
	if from.HostPort != nil {
		to.Host, to.Port = split(*from.HostPort)
	}
	return nil
}

func toSpoke(_ context.Context, from *cronTabV1, to *cronTabV1beta1) error {
	to.ObjectMeta, to.Spec = from.ObjectMeta, from.Spec
	if from.Host != nil {
		text := *from.Host
		if from.Port != nil {
			text += ":" + *from.Port
		}
		to.HostPort = &text
	}
	return nil
}
