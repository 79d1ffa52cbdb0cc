package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// New returns the command crd.
func New(p *voice.Program) *cobra.Command {
	cmd := voice.NewGroup("crd", "Point CRDs at webhookd, show what they point at, and guard their kinds",
		`Point CustomResourceDefinitions at webhookd, in files and in a cluster, show what they point at, and print admission
policies for their kinds.

The Helm chart runs the commands that change a cluster in Jobs. Each Job has a ServiceAccount with only the permissions
that the command's help lists. The server itself has no access to the API.`)
	cmd.AddCommand(newWire(p), newStatus(p), newApply(p), newRelease(p),
		newGuard(p))
	return cmd
}

// crdRule describes the RBAC rule for named CRDs.
func crdRule(verbs string) string {
	return `apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [` + verbs + `],
resourceNames [the CRDs].`
}

// xrdRule is what CRDs that Crossplane makes need in addition.
func xrdRule(verbs string) string {
	return `For CRDs that Crossplane makes: apiGroups
[apiextensions.crossplane.io], resources [compositeresourcedefinitions], verbs [` + verbs + `], resourceNames [the XRDs].`
}

// addFiles adds --filename for CRDs, which are also arguments.
func addFiles(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, "filename", "f", nil, "`path` of a file or folder with CRDs, - for stdin; may be given more than once (default those of the API server)")
	voice.FilesAfter(cmd, "filename")
}

func addReviewVersions(cmd *cobra.Command, versions *[]string) {
	cmd.Flags().StringSliceVar(versions, "review-versions", []string{"v1"}, "conversionReviewVersions of the CRD, in order of preference: `v1,v1beta1`")
	voice.Offer(cmd, "review-versions", "v1", "v1beta1")
}

func checkReviewVersions(versions []string) error {
	if len(versions) == 0 {
		return errors.New("no version of ConversionReview: write --review-versions v1")
	}
	for i, v := range versions {
		if v != "v1" && v != "v1beta1" || slices.Contains(versions[:i], v) {
			return fmt.Errorf("--review-versions %q: not a version of ConversionReview, write v1 or v1beta1, each once", v)
		}
	}
	return nil
}

// readCRDs returns the CRDs of files, or without files those of the API server and its client: the
// ones with these names, or all. schemas says which CRDs of the API server need their schemas.
func readCRDs(
	ctx context.Context, p *voice.Program, from *connect.ClusterFlags, files, names []string, schemas func(*crdwire.CRD) bool,
) (crds []*crdwire.CRD, api *cluster.Client, err error) {
	var missing []string
	if len(files) == 0 {
		if api, err = from.Client(p, "give files of CRDs with --filename, or "); err == nil {
			crds, missing, err = crdwire.ReadAll(ctx, api, names, schemas)
		}
	} else if crds, err = fileCRDs(ctx, p, files); err == nil && len(names) > 0 {
		named := map[string]bool{}
		crds = slices.DeleteFunc(crds, func(crd *crdwire.CRD) bool {
			named[crd.Name] = true
			return !slices.Contains(names, crd.Name)
		})
		missing = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return named[name] })
	}
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%s: there is no such CRD", strings.Join(missing, ", "))
	}
	return crds, api, err
}

func fileCRDs(ctx context.Context, p *voice.Program, paths []string) ([]*crdwire.CRD, error) {
	files, err := offline.Read(ctx, p, ruleset.Origin{What: "CRDs", Remedy: "give their file or folder with --filename"}, paths)
	if err != nil {
		return nil, err
	}
	var crds []*crdwire.CRD
	for _, f := range files {
		found, parseErr := crdwire.Parse(f.Text)
		if parseErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name, parseErr))
		}
		crds = append(crds, found...)
	}
	if err == nil && len(crds) == 0 {
		err = fmt.Errorf("%s: no %s here, name the file that has one", strings.Join(paths, ", "), crdwire.WhatIsRead)
	}
	return crds, err
}
