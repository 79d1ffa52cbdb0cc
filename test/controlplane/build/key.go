package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// moduleDir returns the folder of the module that the process runs in.
func moduleDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the module: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "binaries", "go.mod")); err != nil {
		return "", errors.New("not in the module of the control plane: run it in test/controlplane")
	}
	return filepath.Dir(file), nil
}

// cacheKey is another one where the binaries would be others.
func cacheKey(source string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, flags())
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(source, name)) //nolint:gosec // of this module
		if err != nil {
			return "", err
		}
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}
