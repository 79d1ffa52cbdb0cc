package cli

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// completionTimeout is how long a shell waits for the names that a cluster has.
const completionTimeout = 2 * time.Second

// A namedKind is what the shell completes of a CRD.
type namedKind struct {
	crd, kind string // PLURAL.GROUP and KIND.GROUP
	versions  []string
}

// completeNames registers the names of kinds, CRDs, versions and contexts for the flags of cmd.
func completeNames(p *voice.Program, cmd *cobra.Command) {
	for flag, of := range map[string]func(namedKind) []string{
		"to":      func(k namedKind) []string { return k.versions },
		"version": func(k namedKind) []string { return k.versions },
		"hub":     func(k namedKind) []string { return k.versions },
		"kind":    func(k namedKind) []string { return []string{k.kind} },
		"name":    func(k namedKind) []string { return []string{k.crd} },
		"crd":     func(k namedKind) []string { return []string{k.crd} },
	} {
		offerBy(cmd, flag, func(cmd *cobra.Command, args []string) []string {
			seen := map[string]bool{}
			for _, kind := range namedKinds(p, cmd, args) {
				for _, name := range of(kind) {
					seen[name] = true
				}
			}
			return slices.Sorted(maps.Keys(seen))
		})
	}
	offerBy(cmd, "context", func(cmd *cobra.Command, _ []string) []string {
		named := clusterOf(cmd)
		return named.Contexts()
	})
}

// namedKinds returns the kinds of the files that the command line names so far, or if there are
// none, of the cluster, and those that are compiled in.
func namedKinds(p *voice.Program, cmd *cobra.Command, args []string) []namedKind {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	var crds []*crdwire.CRD
	for _, path := range slices.Concat(pathsOf(cmd), args) {
		if path == offline.Stdin {
			continue
		}
		files, _ := ruleset.Read(ctx, ruleset.ReadBounded, ruleset.Origin{}, path) // what can be read
		for _, file := range files {
			found, _ := crdwire.Parse(file.Text)
			crds = append(crds, found...)
		}
	}
	if len(crds) == 0 && cmd.Flags().Lookup("kubeconfig") != nil {
		named := clusterOf(cmd)
		if api, err := named.Client(p, ""); err == nil {
			crds, _, _ = crdwire.ReadAll(ctx, api, nil, nil) // a cluster that does not answer has no names
		}
	}
	kinds := make([]namedKind, 0, len(p.Compiled.Kinds)+len(crds))
	for _, kind := range p.Compiled.Kinds {
		kinds = append(kinds, namedKind{kind: kind.Name(), versions: kind.Versions})
	}
	for _, crd := range crds {
		kind := namedKind{crd: crd.Name, kind: crd.Spec.Names.Kind + "." + crd.Spec.Group}
		for _, v := range crd.Spec.Versions {
			kind.versions = append(kind.versions, v.Name)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// pathsOf returns the values of the flags that name files of rules and CRDs.
func pathsOf(cmd *cobra.Command) []string {
	var paths []string
	for _, flag := range []string{"rules", "crds", "filename"} {
		if values, err := cmd.Flags().GetStringArray(flag); err == nil {
			paths = append(paths, values...)
		} else if value, err := cmd.Flags().GetString(flag); err == nil && value != "" {
			paths = append(paths, value)
		}
	}
	return paths
}

// clusterOf returns the cluster that the flags name so far.
func clusterOf(cmd *cobra.Command) connect.ClusterFlags {
	var named connect.ClusterFlags
	named.Kubeconfig, _ = cmd.Flags().GetString("kubeconfig") // "" without the flag
	named.Context, _ = cmd.Flags().GetString("context")
	return named
}

// offerBy registers the values of a flag that depend on the command line, if the command has it.
func offerBy(cmd *cobra.Command, flag string, values func(cmd *cobra.Command, args []string) []string) {
	if f := cmd.LocalNonPersistentFlags().Lookup(flag); f == nil || f.Value.Type() == "bool" {
		return
	}
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(cmd, args), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// addCompletion adds cobra's completion command, and makes an unknown shell an error.
func addCompletion(root *cobra.Command, title string) {
	root.SetCompletionCommandGroupID(title)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"}) // it is there now
	voice.MakeGroup(completion)
	for _, shell := range completion.Commands() {
		shell.Args = nil
	}
}
