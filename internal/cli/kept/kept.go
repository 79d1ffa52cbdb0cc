package kept

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// New returns the command kept.
func New(p *voice.Program) *cobra.Command {
	var o keptOptions
	cmd := &cobra.Command{
		Use:   "kept FILE|DIR|-|KIND/NAME [-n NAMESPACE] [--rules PATH --crds PATH] [--version VERSION] [--show-values] [-o text|json]",
		Short: "Print what an object keeps for other versions",
		Long: `Print the values that objects keep in annotations: of which version, at which places, how many of the 262144 bytes that
all annotations of an object may have, and whether clients can still read the version. The objects are those of a file, of a
folder, of stdin, or KIND/NAME in a cluster, where KIND is what kubectl accepts. With --rules it also finds kept values that
do not return, since an edit at another version replaced them. Values are printed only with --show-values.`,
		Example: `  kubectl get crontabs -A -o yaml | webhookd kept -
  webhookd kept crontabs.example.com/nightly -n shop --rules rules.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return voice.Usage(errors.New("give one object, or a file or folder with all"), "")
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
	flags.StringVar(&o.version, "version", "", "only the kept values of this `version` (default all)")
	voice.AddOutput(cmd, &o.output, "text", "json")
	flags.BoolVar(&o.showValues, "show-values", false, "print the kept values, and not only their places and sizes")
	o.cluster.AddConfig(flags)
	flags.StringVarP(&o.cluster.Namespace, "namespace", "n", "", "`namespace` of an object in a cluster (default that of the context)")
	return cmd
}

// keptOptions are the flags of kept.
type keptOptions struct {
	ruled                   offline.Flags
	object, version, output string
	showValues              bool
	cluster                 connect.ClusterFlags
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
	Versions        []keptVersion    `json:"versions"`

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

// A keptVersion says how long values of a version have to be kept.
type keptVersion struct {
	Version string `json:"version"`
	// Droppable says that no client can read the version. It is nil if the CRD is not known.
	Droppable *bool `json:"droppable,omitempty"`
	// LastWrite is the last write at the version that managedFields has, and Manager whose it was.
	LastWrite *metav1.Time `json:"lastWrite,omitempty"`
	Manager   string       `json:"manager,omitempty"`
	Says      string       `json:"says"`
}

// run says what the objects of a file, of stdin or of a cluster keep.
func run(ctx context.Context, p *voice.Program, o *keptOptions) error {
	r := &reader{p: p, o: o}
	texts, err := r.objects(ctx)
	if err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	all := []*keptObject{}
	for _, text := range texts {
		found, err := r.examine(ctx, text)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if err := r.checkVersion(all); err != nil {
		return err
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
	says := make([]string, 0, len(x.Versions)+1)
	for _, v := range x.Versions {
		says = append(says, "  "+v.Says+"\n")
	}
	if x.others > 0 {
		says = append(says, "  "+voice.Count(x.others, "annotation")+" in a format that this build does not know, which conversions pass on\n")
	}
	return head + voice.Table(rows) + strings.Join(says, "")
}
