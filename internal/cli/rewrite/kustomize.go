package rewrite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/yamledit"
)

// An inlinePatch is the text of a patch in a kustomization, in a Kustomization of Flux, or in an
// Application of Argo CD.
type inlinePatch struct{ at, text string }

// patchesIn returns the patches that a document has as texts, and the paths of files with patches.
func patchesIn(document []byte) (inline []inlinePatch, files []string) {
	var root struct {
		kustomization
		Spec struct {
			kustomization
			Source struct {
				Kustomize kustomization `json:"kustomize"`
			} `json:"source"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(document, &root) // another type of one field leaves the others
	add := func(k *kustomization, at string) {
		for i, p := range k.Patches {
			inline, files = append(inline, inlinePatch{fmt.Sprintf("%s.patches[%d].patch", at, i), p.Patch}), append(files, p.Path)
		}
		for i, p := range k.Merged {
			inline, files = append(inline, inlinePatch{fmt.Sprintf("%s.patchesStrategicMerge[%d]", at, i), p}), append(files, p)
		}
	}
	add(&root.kustomization, "")
	add(&root.Spec.kustomization, ".spec")
	add(&root.Spec.Source.Kustomize, ".spec.source.kustomize")
	return inline, files
}

// A kustomization has what kustomize applies to other files.
type kustomization struct {
	Patches []struct {
		Patch string `json:"patch"`
		Path  string `json:"path"`
	} `json:"patches"`
	Merged []string `json:"patchesStrategicMerge"` // files or texts
}

// patchFiles returns the paths of the files that a kustomization names as patches: one of those to
// convert, or one in the folder of such a file.
func (f *targets) patchFiles() map[string]bool {
	patches, read := map[string]bool{}, map[string]bool{}
	for _, t := range f.targets {
		folder := filepath.Dir(t.path)
		if read[folder] {
			continue
		}
		read[folder] = true
		for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} { // as kustomize does
			text, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // next to the user's own file
			if err != nil {
				continue // most often there is none
			}
			file, err := yamledit.ParseYAML(text)
			if err != nil {
				continue // kustomize refuses it
			}
			for i := range file.Documents {
				_, named := patchesIn(file.Documents[i].JSON)
				for _, path := range slices.DeleteFunc(named, func(path string) bool { return path == "" }) {
					if resolved, err := filepath.EvalSymlinks(filepath.Join(folder, path)); err == nil {
						patches[resolved] = true
					}
				}
			}
		}
	}
	return patches
}
