package crd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/cluster/selfmanaged"
)

// NewCerts returns the command certs.
func NewCerts(p *voice.Program) *cobra.Command {
	cmd := voice.NewGroup("certs", "Manage the certificates of webhookd without cert-manager",
		`Manage the certificates of webhookd in Secrets, without cert-manager. See docs/how-to/protect-the-connection.md.`)
	cmd.Hidden = true // the chart\'s Job calls it
	cmd.AddCommand(newEnsure(p))
	return cmd
}

type ensureOptions struct {
	connect.TargetFlags

	secret  string
	names   []string
	policy  selfmanaged.Policy
	rotate  bool
	force   bool
	timeout time.Duration
}

func newEnsure(p *voice.Program) *cobra.Command {
	var o ensureOptions
	cmd := &cobra.Command{
		Use:   "ensure --secret NAMESPACE/NAME --service NAMESPACE/NAME [--crd NAME...]",
		Short: "Make, renew and rotate webhookd's certificates in its Secrets, once",
		Long: `Create a CA and a certificate for the Service in a Secret (tls.crt, tls.key, ca.crt), and renew or replace each of them
when it is due. The command does what can be done now, and ends: run it in a CronJob every ten minutes. It is safe to
interrupt, and to run twice at once. The CA's key is in a second Secret, NAME-ca, that no pod mounts.

Replacing a CA takes three runs or more: the new CA is added to ca.crt and to the caBundle of the CRDs of --crd, issues the
certificate after --settle, and after another --settle the old CA is removed. CRDs that do not point at the Service are left
alone. Name all that do: without --crd a CA is not replaced automatically.

RBAC: apiGroups [""], resources [secrets], verbs [get, patch], resourceNames [NAME, NAME-ca], in the namespace; and
` + crdRule("get, patch") + " " + xrdRule("get, patch") + ` The verb create, on secrets, cannot be limited to names. It is needed only if the two Secrets do
not exist: create them beforehand, empty and of type Opaque. An upgrade does not reset data that a manifest does not name.`,
		Example: `  webhookd certs ensure --secret webhookd/webhookd-tls --service webhookd/webhookd --crd crontabs.example.com
  webhookd certs ensure --secret webhookd/webhookd-tls --service webhookd/webhookd --crd crontabs.example.com --rotate-ca`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runEnsure(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.secret, "secret", "", "Secret that webhookd serves from, as `[NAMESPACE/]NAME`")
	o.AddService(flags, "Service of webhookd")
	flags.StringArrayVar(&o.names, "crd", nil, "CRD that points at the Service, as `PLURAL.GROUP`; may be given more than once")
	const day = 24 * time.Hour
	flags.DurationVar(&o.policy.CAValidity, "ca-validity", 3650*day, "how long a new CA is valid; it is replaced when a fifth of that is left")
	flags.DurationVar(&o.policy.LeafValidity, "leaf-validity", 90*day, "how long a new certificate is valid")
	flags.DurationVar(&o.policy.RenewBefore, "renew-before", 30*day, "how long before it expires a certificate is renewed")
	flags.DurationVar(&o.policy.StepDelay, "settle", selfmanaged.DefaultStepDelay, "how long to wait after each step of a CA change, so that servers and the API server load it;\nless than 10m is for tests")
	flags.BoolVar(&o.rotate, "rotate-ca", false, "start replacing the CA now, unless a replacement is in progress")
	flags.BoolVar(&o.force, "force", false, "take caBundle from other field managers; run the command without it first, which says when that is safe")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long the command may take")
	o.Cluster.Add(flags)
	return cmd
}

// maxEnsure is well below a safe step delay, so that a run never acts on what it read long ago. A
// run also ends after one step delay.
const maxEnsure = 5 * time.Minute

func runEnsure(ctx context.Context, p *voice.Program, o *ensureOptions) error {
	var secretErr error
	name, err := o.Cluster.Qualified(o.secret)
	secret, notSecret := crdwire.ParseService(name) // a Secret has the same form
	switch {
	case o.secret == "":
		secretErr = errors.New("no Secret: give that of webhookd with --secret NAMESPACE/NAME")
	case err != nil:
		secretErr = fmt.Errorf("--secret %w", err)
	case notSecret != nil:
		secretErr = fmt.Errorf("--secret %q: not a Secret, write NAMESPACE/NAME", o.secret)
	}
	o.Port, o.Path = crdwire.DefaultPort, crdwire.DefaultPath
	target, serviceErr := o.Target()
	api, err := o.Cluster.Client(p, "", secretErr, serviceErr, connect.CheckCRDNames("crd", o.names), o.policy.Check(),
		voice.Problem(o.timeout <= 0 || o.timeout > maxEnsure, "--timeout %s: write more than 0s and at most %s", o.timeout, maxEnsure))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, min(o.timeout, o.policy.StepDelay))
	defer cancel()
	return selfmanaged.Ensure(ctx, api, selfmanaged.Options{
		Namespace: secret.Namespace, Secret: secret.Name, Service: target, CRDs: o.names,
		Policy: o.policy, Rotate: o.rotate, Force: o.force, Now: time.Now, Log: p.Note,
	})
}
