package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build describes what this program was built from.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Modified  bool   `json:"modified,omitempty"` // the work tree had changes
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// readBuild reads the build info. A version that the linker set overrides it.
func readBuild(linked string) build {
	b := build{Version: "devel", GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
func (b build) String() string {
	revision := b.Revision
	if revision == "" {
		revision = "unknown revision"
	} else if b.Modified {
		revision += " with changes"
	}
	return fmt.Sprintf("%s (%s, %s, %s)", b.Version, revision, b.GoVersion, b.Platform)
}

func newVersionCommand(p *program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version [-o text|json]",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "text":
				_, err := fmt.Fprintln(p.stdout, "webhookd version", p.build)
				return err
			case "json":
				return p.printJSON(p.build)
			}
			return badOutput(output, "text", "json")
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	offer(cmd, "output", "text", "json")
	return cmd
}

// printJSON prints the result of a verb with -o json.
func (p *program) printJSON(result any) error {
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(result)
}

// badOutput is the error for a value of -o that is not one of formats; there must be at least two.
func badOutput(got string, formats ...string) error {
	last := len(formats) - 1
	known := strings.Join(formats[:last], ", ") + " or " + formats[last]
	return usage(fmt.Errorf("unknown output format %q: write %s", got, known), "")
}
