package kept

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// New returns the command kept.
func New(p *voice.Program) *cobra.Command {
	var o keptOptions
	cmd := &cobra.Command{
		Use:   "kept FILE|DIR|- [--rules PATH --crds PATH] [--show-values] [-o text|json]",
		Short: "Print what an object keeps for other versions",
		Long: `Print the values that objects keep in annotations: of which version, at which places, and how many of the 262144 bytes that
all annotations of an object may have. With --rules it also finds kept values that do not return, since an edit at another
version replaced them. Values are printed only with --show-values. webhookd migrate --dry-run counts those of a kind, and says
who still writes which version.`,
		Example: `  kubectl get crontabs -A -o yaml | webhookd kept -
  kubectl get crontabs nightly -n shop -o yaml | webhookd kept - --rules rules.yaml --crds crd.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return voice.Usage(errors.New("give a file or folder of objects, or - for stdin"), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.object = args[0]
			if err := voice.CheckOutput(o.output, "text", "json"); err != nil {
				return err
			}
			return run(cmd.Context(), p, &o)
		},
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	voice.AddOutput(cmd, &o.output, "text", "json")
	flags.BoolVar(&o.showValues, "show-values", false, "print the kept values, and not only their places and sizes")
	return cmd
}

// keptOptions are the flags of kept.
type keptOptions struct {
	ruled          offline.Flags
	object, output string
	showValues     bool
}

// A keptObject is what an object keeps for versions other than its own.
type keptObject struct {
	Object  string `json:"object"`
	Version string `json:"version"`
	// KeptBytes and AnnotationBytes count against Limit.
	KeptBytes       int              `json:"keptBytes"`
	AnnotationBytes int              `json:"annotationBytes"`
	Limit           int              `json:"limit"`
	Kept            []keptAnnotation `json:"kept"`

	others int // annotations with webhookd's prefix that this build cannot read
}

// A keptAnnotation has kept values.
type keptAnnotation struct {
	Version string   `json:"version"`
	Places  []string `json:"places"`
	Keeps   []string `json:"keeps"`
	Name    string   `json:"annotation"`
	Bytes   int      `json:"bytes"`
	// Outdated says that it does not return: an edit at another version replaced it, or the schema
	// lacks the place. It is nil without rules.
	Outdated *bool    `json:"outdated,omitempty"`
	Values   []string `json:"values,omitempty"`
}

// run says what the objects of a file, of stdin or of a cluster keep.
func run(ctx context.Context, p *voice.Program, o *keptOptions) error {
	r := &reader{p: p, o: o}
	files, err := offline.Objects(p, []string{o.object})
	if err := errors.Join(err, r.load(ctx)); err != nil {
		return err
	}
	all := []*keptObject{}
	for _, file := range files {
		for _, text := range file.Documents {
			found, err := r.examine(ctx, text)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
	}
	if o.output == "json" {
		return p.PrintJSON(map[string]any{"objects": all})
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: no objects in the files", offline.NamesOf([]string{o.object}))
	}
	said := make([]string, len(all))
	for i, object := range all {
		said[i] = object.text()
	}
	return p.Print(strings.Join(said, "\n"))
}

// text says for a person what an object keeps.
func (x *keptObject) text() string {
	head := fmt.Sprintf("%s at %s: ", x.Object, x.Version)
	used := fmt.Sprintf("%d of %d bytes of annotations are used", x.AnnotationBytes, x.Limit)
	if x.KeptBytes == 0 {
		return head + "nothing is kept; " + used + "\n"
	}
	head += fmt.Sprintf("kept values have %d bytes; %s (%.1f %%)\n", x.KeptBytes, used, 100*float64(x.AnnotationBytes)/float64(x.Limit))
	var rows [][]string
	for i, k := range x.Kept {
		if i == 0 {
			rows = append(rows, []string{"  OF", "BYTES", "PLACE"})
		}
		const most = 3
		text := finding.Few(k.Places, most) + ": " + strings.Join(k.Keeps, ", ")
		switch {
		case k.Outdated == nil:
		case *k.Outdated:
			text += fmt.Sprintf(", which will not return: %s was edited since, or the schema lacks the place", x.Version)
		default:
			text += ", which returns when " + k.Version + " is read"
		}
		rows = append(rows, []string{"  " + k.Version, fmt.Sprint(k.Bytes), text})
		for _, value := range k.Values {
			rows = append(rows, []string{"  ", "", "  " + value})
		}
	}
	text := head + voice.Table(rows)
	if x.others > 0 {
		text += "  " + voice.Count(x.others, "annotation") + " in a format that this build does not know, which conversions pass on\n"
	}
	return text
}
