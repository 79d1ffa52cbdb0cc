package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// A kind is a folder of testdata/clusterapi with the CRD from the module of Cluster API.
type kind struct {
	name       string // of the folder
	files      map[string][]byte
	hub, spoke string // apiVersions
}

// loadKinds reads all kinds of a folder.
func loadKinds(ctx context.Context, folder string) ([]kind, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		return nil, fmt.Errorf("finding Cluster API's module: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*", "rules.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no kinds in %s: %w", folder, os.ErrNotExist)
	}
	kinds := make([]kind, 0, len(paths))
	for _, path := range paths {
		k, err := loadKind(filepath.Dir(path), strings.TrimSpace(string(module)))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

func loadKind(folder, module string) (kind, error) {
	k := kind{name: filepath.Base(folder), files: map[string][]byte{}}
	for _, name := range []string{"rules.yaml", "plain.yaml", "kept.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // the path is the user's own
		if os.IsNotExist(err) && name == "kept.yaml" {
			continue // nothing of the kind can be kept
		}
		if err != nil {
			return kind{}, err
		}
		k.files[name] = text
	}
	var rules struct {
		Metadata struct{ Name string }
		Spec     struct {
			Hub      string
			Versions []struct{ Name string }
		}
	}
	if err := yaml.Unmarshal(k.files["rules.yaml"], &rules); err != nil {
		return kind{}, fmt.Errorf("rules of %s: %w", k.name, err)
	}
	plural, group, _ := strings.Cut(rules.Metadata.Name, ".")
	k.hub, k.spoke = group+"/"+rules.Spec.Hub, group+"/"+rules.Spec.Versions[0].Name
	for _, component := range []string{".", filepath.Join("bootstrap", "kubeadm")} {
		text, err := os.ReadFile(filepath.Join(module, component, "config", "crd", "bases", group+"_"+plural+".yaml"))
		if err == nil {
			k.files["crd.yaml"] = text
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("no CRD of %s in %s", rules.Metadata.Name, module)
}

// exportKinds writes kinds, each with its CRD, to folders.
func exportKinds(kinds []kind, folder string) error {
	for _, k := range kinds {
		dir := filepath.Join(folder, k.name)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return err
		}
		for name, text := range k.files {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// object returns an object as the API server sends it, or nil if there is none of that name.
func (k *kind) object(name string) (map[string]any, error) {
	text := k.files[name+".yaml"]
	if text == nil {
		return nil, nil //nolint:nilnil // none
	}
	text, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name, k.name, err)
	}
	return decode(text)
}

func decode(text []byte) (map[string]any, error) {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&object)
	return object, err
}

// copies returns a number of texts of an object, each with a name of its own.
func copies(object map[string]any, count int) ([][]byte, error) {
	metadata, _ := object["metadata"].(map[string]any)
	name := metadata["name"]
	defer func() { metadata["name"] = name }()
	texts := make([][]byte, count)
	for i := range texts {
		if i > 0 {
			metadata["name"] = fmt.Sprintf("%v-%d", name, i)
		}
		var err error
		if texts[i], err = json.Marshal(object); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// work says what the rules of the kind do: more than to move values, or not.
func (k *kind) work() string {
	rules := k.files["rules.yaml"]
	switch {
	case bytes.Contains(rules, []byte("toHub:")), bytes.Contains(rules, []byte("toSpoke:")):
		return "CEL"
	case bytes.Contains(rules, []byte("codec:")):
		return "codecs"
	}
	return "plain"
}
