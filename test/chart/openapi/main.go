// Openapi cuts the API server's own OpenAPI documents to the kinds of the chart, for kubeconform:
//
//	go run ./openapi testdata/openapi v1.30.0 v1.35.0 ...
//
// The documents are api/openapi-spec/swagger.json of the module k8s.io/kubernetes (The Kubernetes
// Authors, Apache License 2.0), without descriptions and with what refuses unknown fields.
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kinds are those that the chart makes, as GROUP/VERSION/KIND in lower case.
func kinds() []string {
	return strings.Fields(`
		/v1/configmap /v1/namespace /v1/secret /v1/service /v1/serviceaccount apps/v1/deployment autoscaling/v2/horizontalpodautoscaler
		batch/v1/cronjob batch/v1/job networking.k8s.io/v1/networkpolicy policy/v1/poddisruptionbudget
		rbac.authorization.k8s.io/v1/clusterrole rbac.authorization.k8s.io/v1/clusterrolebinding
		rbac.authorization.k8s.io/v1/role rbac.authorization.k8s.io/v1/rolebinding
		admissionregistration.k8s.io/v1/validatingadmissionpolicy admissionregistration.k8s.io/v1/validatingadmissionpolicybinding
		admissionregistration.k8s.io/v1/mutatingadmissionpolicy admissionregistration.k8s.io/v1/mutatingadmissionpolicybinding`)
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: openapi DIR VERSION...")
		os.Exit(2)
	}
	for _, version := range os.Args[2:] {
		if err := write(context.Background(), os.Args[1], version); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// A cut has the definitions of a minor, and the name of that of each kind.
type cut struct {
	Kinds       map[string]string         `json:"kinds"`
	Definitions map[string]map[string]any `json:"definitions"`
}

func write(ctx context.Context, dir, version string) error {
	text, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version).Output() //nolint:gosec // the version is the user's own argument
	if err != nil {
		return fmt.Errorf("cannot download Kubernetes %s: %w", version, err)
	}
	var module struct {
		Dir string `json:"Dir"` //nolint:tagliatelle // of cmd/go
	}
	if err := json.Unmarshal(text, &module); err != nil {
		return err
	}
	text, err = os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		return err
	}
	var all struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	is := cut{map[string]string{}, map[string]map[string]any{}}
	for name, definition := range all.Definitions {
		for _, kind := range kinds() {
			if kindOf(definition) == kind {
				is.Kinds[kind] = name
				is.take(name, all.Definitions)
			}
		}
	}
	file, err := os.Create(filepath.Join(dir, version+".json.gz")) //nolint:gosec // the folder is the user's own argument
	if err != nil {
		return err
	}
	compressed, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err := json.NewEncoder(compressed).Encode(is); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return file.Close()
}

func kindOf(definition map[string]any) string {
	list, _ := definition["x-kubernetes-group-version-kind"].([]any)
	if len(list) != 1 {
		return ""
	}
	gvk, _ := list[0].(map[string]any)
	return strings.ToLower(fmt.Sprintf("%s/%s/%s", gvk["group"], gvk["version"], gvk["kind"]))
}

// take adds a definition, and all that it refers to.
func (c *cut) take(name string, all map[string]map[string]any) {
	if c.Definitions[name] != nil {
		return
	}
	schema := clean(all[name])
	c.Definitions[name] = schema
	c.follow(schema, all)
}

func (c *cut) follow(value any, all map[string]map[string]any) {
	switch value := value.(type) {
	case map[string]any:
		if to, ok := value["$ref"].(string); ok {
			c.take(strings.TrimPrefix(to, "#/definitions/"), all)
		}
		for _, below := range value {
			c.follow(below, all)
		}
	case []any:
		for _, below := range value {
			c.follow(below, all)
		}
	}
}

// clean returns a schema of JSON Schema, in which objects have no other fields.
func clean(schema map[string]any) map[string]any {
	if schema["format"] == "int-or-string" {
		return map[string]any{"type": []any{"integer", "string"}}
	}
	made := map[string]any{}
	for _, key := range []string{"type", "required", "enum", "$ref"} {
		if value, has := schema[key]; has {
			made[key] = value
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := schema[key].(map[string]any); ok {
			made[key] = clean(below)
		}
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		cleaned := map[string]any{}
		for name, below := range properties {
			cleaned[name] = clean(below.(map[string]any))
		}
		made["properties"] = cleaned
		if made["additionalProperties"] == nil {
			made["additionalProperties"] = false
		}
	}
	return made
}
