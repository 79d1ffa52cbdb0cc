// Package reviewtest builds ConversionReview requests as kube-apiserver sends them, for tests and
// benchmarks: compact JSON with sorted names, <, > and & escaped, kind before apiVersion, an empty
// response stanza, and a newline at the end. The same arguments give the same bytes.
package reviewtest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Versions of CronTab in the requests.
const (
	From = "example.com/v1beta1"
	To   = "example.com/v1"
)

// bareSize is the size in bytes below which an object has no managedFields and no
// last-applied-configuration.
const bareSize = 1 << 10

// Body returns a v1 ConversionReview to convert CronTab objects of about size bytes each from From
// to To.
func Body(objects, size int) []byte {
	list := make([][]byte, objects)
	for i := range list {
		list[i] = Object(i, size)
	}
	return Review("apiextensions.k8s.io/v1", To, list...)
}

// Review returns a request of a review version to convert objects, each a JSON text, to the desired
// apiVersion.
func Review(reviewVersion, desired string, objects ...[]byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":"ConversionReview","apiVersion":%q,"request":{"uid":"b3997c42-5d0c-4a19-9e3f-0f6ad6c1a0e5",`+
		`"desiredAPIVersion":%q,"objects":[%s]},`, reviewVersion, desired, bytes.Join(objects, []byte(",")))
	b.WriteString(`"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}` + "\n")
	return b.Bytes()
}

// Object returns a CronTab of version From, of about size bytes, but at least 0.4 KB. From 1 KiB on
// it has managedFields and the annotation of kubectl apply. Environment variables, and their traces
// in both, make it larger.
func Object(index, size int) []byte {
	if size < bareSize {
		return encode(crontab(index, 0, false))
	}
	none, ten := len(encode(crontab(index, 0, true))), len(encode(crontab(index, 10, true)))
	return encode(crontab(index, max(0, 10*(size-none)/(ten-none)), true))
}

func crontab(index, variables int, managed bool) map[string]any {
	name := fmt.Sprintf("crontab-%04d", index)
	spec := map[string]any{
		"cronSpec": "*/5 * * * *", "image": "registry.example.com/team/cron:1.24.3", "replicas": 3, "suspend": false,
	}
	metadata := map[string]any{
		"name": name, "namespace": "default", "uid": fmt.Sprintf("7f6c5d1e-9a2b-4c3d-8e4f-%012d", index),
		"creationTimestamp": "2026-03-02T09:41:05Z", "generation": 3, "resourceVersion": "481516",
		"labels": map[string]any{"app.kubernetes.io/name": name},
	}
	hostPort := fmt.Sprintf("host-%04d.example.com:8080", index)
	object := map[string]any{"apiVersion": From, "kind": "CronTab", "metadata": metadata, "hostPort": hostPort, "spec": spec}
	if !managed {
		return object
	}
	spec["command"] = []string{"/bin/sh", "-c", "run --if \"a\" < b && echo done > /tmp/log"}
	spec["resources"] = map[string]any{"limits": map[string]any{"cpu": "500m", "memory": "1Gi"}, "ratio": 1.5}
	spec["env"] = environment(variables)
	applied := map[string]any{
		"apiVersion": From, "kind": "CronTab", "metadata": map[string]any{"name": name, "namespace": "default"},
		"hostPort": hostPort, "spec": spec,
	}
	metadata["annotations"] = map[string]any{
		"kubectl.kubernetes.io/last-applied-configuration": string(encode(applied)) + "\n",
	}
	object["status"] = status()
	metadata["managedFields"] = managedFields(variables)
	return object
}

func environment(variables int) []any {
	list := make([]any, variables)
	for i := range list {
		list[i] = map[string]any{"name": fmt.Sprintf("SETTING_%05d", i), "value": fmt.Sprintf("value-%05d", i)}
	}
	return list
}

func status() map[string]any {
	conditions := make([]any, 0, 3)
	for _, kind := range []string{"Available", "Progressing", "Scheduled"} {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "reason": kind + "Reason", "message": "the last run was fine",
			"lastTransitionTime": "2026-03-02T09:41:07Z", "observedGeneration": 3,
		})
	}
	return map[string]any{"conditions": conditions, "observedGeneration": 3, "lastScheduleTime": nil}
}

func managedFields(variables int) []any {
	leaf := map[string]any{}
	env := map[string]any{".": leaf}
	for i := range variables {
		env[fmt.Sprintf(`k:{"name":"SETTING_%05d"}`, i)] = map[string]any{".": leaf, "f:name": leaf, "f:value": leaf}
	}
	entry := func(manager, operation string, fields map[string]any) map[string]any {
		return map[string]any{
			"manager": manager, "operation": operation, "apiVersion": From, "time": "2026-03-02T09:41:05Z",
			"fieldsType": "FieldsV1", "fieldsV1": fields,
		}
	}
	applied := entry("kubectl-client-side-apply", "Update", map[string]any{
		"f:metadata": map[string]any{
			"f:annotations": map[string]any{".": leaf, "f:kubectl.kubernetes.io/last-applied-configuration": leaf},
			"f:labels":      map[string]any{".": leaf, "f:app.kubernetes.io/name": leaf},
		},
		"f:hostPort": leaf,
		"f:spec": map[string]any{
			".": leaf, "f:cronSpec": leaf, "f:image": leaf, "f:replicas": leaf, "f:suspend": leaf,
			"f:command": leaf, "f:env": env,
		},
	})
	controller := entry("crontab-controller", "Update", map[string]any{
		"f:status": map[string]any{
			".": leaf, "f:observedGeneration": leaf, "f:lastScheduleTime": leaf,
			"f:conditions": map[string]any{
				".": leaf, `k:{"type":"Available"}`: map[string]any{".": leaf, "f:status": leaf, "f:type": leaf, "f:reason": leaf},
			},
		},
	})
	controller["subresource"] = "status"
	return []any{applied, controller}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return text
}
