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

// completeNames registers the names of kinds, CRDs, versions and contexts for the flags of cmd and
// of the commands below.
func completeNames(p *voice.Program, cmd *cobra.Command) {
	for flag, of := range map[string]func(namedKind) []string{
		"to":      func(k namedKind) []string { return k.versions },
		"version": func(k namedKind) []string { return k.versions },
		"hub":     func(k namedKind) []string { return k.versions },
		"kind":    func(k namedKind) []string { return []string{k.kind} },
		"name":    func(k namedKind) []string { return []string{k.crd} },
		"crd":     func(k namedKind) []string { return []string{k.crd} },
	} {
		f := cmd.LocalNonPersistentFlags().Lookup(flag)
		if f == nil || f.Value.Type() == "bool" {
			continue
		}
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
	if cmd.LocalNonPersistentFlags().Lookup("context") != nil {
		offerBy(cmd, "context", func(cmd *cobra.Command, _ []string) []string {
			named := clusterOf(cmd)
			return named.Contexts()
		})
	}
	for _, sub := range cmd.Commands() {
		completeNames(p, sub)
	}
}

// namedKinds returns the kinds of the files that the command line names so far, and those that are
// compiled in, or if there are none, of the cluster.
func namedKinds(p *voice.Program, cmd *cobra.Command, args []string) []namedKind {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	var kinds []namedKind
	var files []ruleset.File
	for _, path := range slices.Concat(pathsOf(cmd), args) {
		if path != offline.Stdin {
			found, _ := ruleset.Read(ctx, ruleset.ReaderForVerbs(), ruleset.Origin{}, path) // what can be read
			files = append(files, found...)
		}
	}
	crds, _ := ruleset.ParseCRDs(ctx, files)
	for _, crd := range crds {
		kind := namedKind{crd: crd.Name, kind: crd.GroupKind().String()}
		for _, v := range crd.Versions {
			kind.versions = append(kind.versions, v.Name)
		}
		kinds = append(kinds, kind)
	}
	for _, kind := range p.Compiled.Kinds {
		kinds = append(kinds, namedKind{kind: kind.Name(), versions: kind.Versions})
	}
	if len(crds) > 0 || cmd.Flags().Lookup("kubeconfig") == nil {
		return kinds
	}
	named := clusterOf(cmd)
	api, err := named.Client(p, "")
	if err != nil {
		return kinds
	}
	live, _, _ := crdwire.ReadAll(ctx, api, nil) // a cluster that does not answer has no names
	for _, crd := range live {
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

// offerBy is offer for values that depend on the command line.
func offerBy(cmd *cobra.Command, flag string, values func(cmd *cobra.Command, args []string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(cmd, args), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // there is no such flag
	}
}
