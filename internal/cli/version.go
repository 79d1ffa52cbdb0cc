package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build says what this program was built from.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Modified  bool   `json:"modified,omitempty"` // the work tree had changes
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// readBuild takes what the linker set, and the rest from the build info.
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

// String is the version on one line for people, as cobra's --version puts it behind the program's name.
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
				e := json.NewEncoder(p.stdout)
				e.SetIndent("", "  ")
				return e.Encode(p.build)
			}
			return badOutput(output, "text", "json")
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`format`: text or json")
	offer(cmd, "output", "text", "json")
	return cmd
}

// badOutput says that -o was given something else than one of the formats, which are two or more.
func badOutput(got string, formats ...string) error {
	last := len(formats) - 1
	known := strings.Join(formats[:last], ", ") + " or " + formats[last]
	return usage(fmt.Errorf("unknown output format %q: write %s", got, known), "")
}
