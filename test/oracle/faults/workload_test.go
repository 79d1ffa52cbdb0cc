package faults_test

import (
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/load"
)

// The load of a fault: workers that make calls with the API server's own client, and one in
// listEvery is a list.
const (
	workers     = 16
	ratePerSec  = 500
	listEvery   = 16
	listObjects = 100
)

func crontabs() schema.GroupKind { return schema.GroupKind{Group: "example.com", Kind: "CronTab"} }

// crontabConverter is what the API server has of the CronTabs.
func crontabConverter(t *testing.T, a *apiclient.Server, ca *tlstest.CA) *apiclient.Converter {
	t.Helper()
	return a.Converter(t, crontabs(), []string{"v1beta1", "v1"}, hook(ca))
}

// A wrongAnswerError is worse than no answer.
type wrongAnswerError string

func (e wrongAnswerError) Error() string { return "wrong answer: " + string(e) }

// mixed returns a call of the load. Each object has a value of its own, and has to come back with
// it.
func mixed(c *apiclient.Converter) func(worker, n int) error {
	return func(worker, n int) error {
		if n%listEvery != listEvery-1 {
			mark := fmt.Sprintf("host-%d-%d", worker, n)
			out, err := c.To(crontab(mark), "v1")
			if err != nil {
				return err
			}
			return marked(out, mark)
		}
		return convertList(c, fmt.Sprintf("host-%d-%d", worker, n), listObjects)
	}
}

func convertList(c *apiclient.Converter, mark string, objects int) error {
	in := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "CronTabList"}}
	for i := range objects {
		in.Items = append(in.Items, *crontab(fmt.Sprintf("%s-%d", mark, i)))
	}
	out, err := c.To(in, "v1")
	if err != nil {
		return err
	}
	list, ok := out.(*unstructured.UnstructuredList)
	if !ok || len(list.Items) != objects {
		return wrongAnswerError(fmt.Sprintf("a %T", out))
	}
	for i := range list.Items {
		if err := marked(&list.Items[i], fmt.Sprintf("%s-%d", mark, i)); err != nil {
			return err
		}
	}
	return nil
}

func crontab(mark string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1beta1", "kind": "CronTab",
		"metadata": map[string]any{
			"name": "c-" + mark, "namespace": "default", "uid": "6e1a1b0c-8d2c-4cf0-9c53-0e9d0a2f7a10",
			"labels": map[string]any{"app": "cron"},
		},
		"hostPort": mark + ":1234",
		"spec":     map[string]any{"cronSpec": "*/5 * * * *", "image": mark, "replicas": int64(3)},
	}}
}

// marked checks that an object is the one that was sent, converted.
func marked(out runtime.Object, mark string) error {
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return wrongAnswerError(fmt.Sprintf("a %T", out))
	}
	image, _, _ := unstructured.NestedString(u.Object, "spec", "image")
	_, kept := u.Object["hostPort"]
	if u.GetAPIVersion() != "example.com/v1" || u.GetName() != "c-"+mark || u.Object["host"] != mark || u.Object["port"] != "1234" ||
		image != mark || kept {
		return wrongAnswerError(fmt.Sprintf("%v for %s", u.Object, mark))
	}
	return nil
}

// start begins the load of a fault.
func start(t *testing.T, a *apiclient.Server, ca *tlstest.CA) *load.Load {
	t.Helper()
	return load.Start(t, load.Options{Workers: workers, Rate: ratePerSec, Call: mixed(crontabConverter(t, a, ca))})
}

// strange is an object of one of the kinds whose converters misbehave.
func strange(kind, name string, n int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hostile.example.com/v1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": "default", "uid": "3f1e7a52-0d6c-4c54-9d0a-5d1f6f3a8d11"},
		"spec":     map[string]any{"n": int64(n)},
	}}
}

func strangeConverter(t *testing.T, a *apiclient.Server, ca *tlstest.CA, kind string) *apiclient.Converter {
	t.Helper()
	return a.Converter(t, schema.GroupKind{Group: "hostile.example.com", Kind: kind}, []string{"v1", "v2"}, hook(ca))
}
