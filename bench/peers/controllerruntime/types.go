package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CronTabV1beta1 is what the workloads' objects are, typed as an operator's author would.
type CronTabV1beta1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	HostPort          string  `json:"hostPort,omitempty"`
	Spec              *Spec   `json:"spec,omitempty"`
	Status            *Status `json:"status,omitempty"`
}

// CronTabV1 is the same at the version that the reviews ask for.
type CronTabV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Host              string  `json:"host,omitempty"`
	Port              string  `json:"port,omitempty"`
	Spec              *Spec   `json:"spec,omitempty"`
	Status            *Status `json:"status,omitempty"`
}

// Spec is the same in both versions.
type Spec struct {
	Command   []string   `json:"command,omitempty"`
	CronSpec  string     `json:"cronSpec,omitempty"`
	Env       []EnvVar   `json:"env,omitempty"`
	Image     string     `json:"image,omitempty"`
	Replicas  int64      `json:"replicas,omitempty"`
	Resources *Resources `json:"resources,omitempty"`
	Suspend   bool       `json:"suspend"`
}

// EnvVar is a name and a value.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Resources has plain strings for quantities, which favours this peer.
type Resources struct {
	Limits map[string]string `json:"limits,omitempty"`
	Ratio  float64           `json:"ratio,omitempty"`
}

// Status is the same in both versions.
type Status struct {
	Conditions         []Condition `json:"conditions,omitempty"`
	LastScheduleTime   *string     `json:"lastScheduleTime"`
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
}

// Condition is a metav1.Condition with its time as text.
type Condition struct {
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	Message            string `json:"message,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	Reason             string `json:"reason,omitempty"`
	Status             string `json:"status,omitempty"`
	Type               string `json:"type,omitempty"`
}

// Hub marks v1 as the hub.
func (*CronTabV1) Hub() {}

// DeepCopyObject implements runtime.Object; the conversion handler does not call it.
func (in *CronTabV1) DeepCopyObject() runtime.Object { out := *in; return &out }

// DeepCopyObject implements runtime.Object; the conversion handler does not call it.
func (in *CronTabV1beta1) DeepCopyObject() runtime.Object { out := *in; return &out }

func toHub(_ context.Context, from *CronTabV1beta1, to *CronTabV1) error {
	to.ObjectMeta, to.Spec, to.Status = from.ObjectMeta, from.Spec, from.Status
	to.Host, to.Port = split(from.HostPort)
	return nil
}

func toSpoke(_ context.Context, from *CronTabV1, to *CronTabV1beta1) error {
	to.ObjectMeta, to.Spec, to.Status = from.ObjectMeta, from.Spec, from.Status
	to.HostPort = from.Host + ":" + from.Port
	return nil
}

func split(hostPort string) (host, port string) {
	for i := len(hostPort) - 1; i >= 0; i-- {
		if hostPort[i] == ':' {
			return hostPort[:i], hostPort[i+1:]
		}
	}
	return hostPort, ""
}
