package voice

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// The exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1
	exitUsage  = 2
)

// A Program holds what a verb needs from its environment.
type Program struct {
	Environ        []string // as os.Environ returns it
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Build          Build
	Compiled       ruleset.Compiled
	Color          Color
}

// Note prints one line about what the command does.
func (p *Program) Note(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "webhookd: "+format+"\n", args...)
}

// variable returns the value of an environment variable, or "".
func (p *Program) variable(name string) string {
	for _, entry := range slices.Backward(p.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// A Build describes what this program was built from.
type Build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Modified  bool   `json:"modified,omitempty"` // the work tree had changes
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// ReadBuild reads the build info. A version that the linker set overrides it.
func ReadBuild(linked string) Build {
	b := Build{Version: "devel", GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			b.Version = v
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if linked != "" {
		b.Version = linked
	}
	return b
}

// String returns the version on one line. Cobra's --version prints it after the program's name.
func (b Build) String() string {
	revision := b.Revision
	if revision == "" {
		revision = "unknown revision"
	} else if b.Modified {
		revision += " with changes"
	}
	return fmt.Sprintf("%s (%s, %s, %s)", b.Version, revision, b.GoVersion, b.Platform)
}

// Print prints a result.
func (p *Program) Print(text string) error {
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// PrintJSON prints the result of a verb with -o json.
func (p *Program) PrintJSON(result any) error {
	e := json.NewEncoder(p.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(result)
}
