package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build writes the custom server of examples/ to the file binary, built from the module whose root
// is given. Overlay, where it is not nil, says which of its source files, by their paths below
// root, are in other files: a converter can be compiled in with nothing else changed.
func Build(ctx context.Context, root, binary string, overlay map[string]string) error {
	args := []string{"build", "-o", binary}
	if overlay != nil {
		list, err := writeOverlay(root, binary+".overlay.json", overlay)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", list)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./examples/custom-server")...) //nolint:gosec // paths of the test's own
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build webhookd: %w\n%s", err, out)
	}
	return nil
}

func writeOverlay(root, list string, overlay map[string]string) (string, error) {
	replace := make(map[string]string, len(overlay))
	for source, instead := range overlay {
		var err error
		if source, err = filepath.Abs(filepath.Join(root, source)); err != nil {
			return "", err
		}
		if replace[source], err = filepath.Abs(instead); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return list, os.WriteFile(list, text, 0o600)
}
