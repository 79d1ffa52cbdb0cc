package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/selfmanaged"
)

func newCertsCommand(p *program) *cobra.Command {
	cmd := newGroup("certs", "Keep the certificates of webhookd without cert-manager",
		`Keep the certificates of webhookd in Secrets, without cert-manager. See docs/how-to/rotate-certificates.md.`)
	cmd.AddCommand(newCertsEnsureCommand(p))
	return cmd
}

type ensureOptions struct {
	targetFlags

	api     apiFlags
	secret  string
	names   []string
	policy  selfmanaged.Policy
	rotate  bool
	timeout time.Duration
}

func newCertsEnsureCommand(p *program) *cobra.Command {
	var o ensureOptions
	cmd := &cobra.Command{
		Use:   "ensure --secret NAMESPACE/NAME --service NAMESPACE/NAME [--crd NAME...]",
		Short: "Make, renew and rotate the certificates of webhookd in its Secrets, once",
		Long: `Make a CA and a certificate for the Service in a Secret (tls.crt, tls.key, ca.crt), renew the certificate when it is due,
and replace the CA when it is due. It does all that can be done now, and ends: run it in a CronJob, every ten minutes, since a
CRD that has come without a caBundle cannot be read until it has one. It may be run at any time, be interrupted anywhere, and
run twice at once.

A CA is replaced over three runs or more. The new one comes into ca.crt and into caBundle of the CRDs of --crd; once it has
been there for --settle, it issues the certificate; once that has been there for --settle, the old one goes. So what is
served is always verified by what the CRDs trust. CRDs that do not point at the Service are left alone, caBundle is set by
server-side apply with the field manager "webhookd-certs", and other fields are not touched. Name all CRDs that point at
the Service: without --crd a CA is not replaced by itself.

The CA's key is in a second Secret, NAME-ca, that no pod mounts: whoever takes over a server cannot issue certificates.

RBAC: apiGroups [""], resources [secrets], verbs [get, patch], resourceNames [NAME, NAME-ca], in the namespace; and
` + crdRule("get, patch") + ` create cannot be limited to names: it is needed, for secrets, only where the two do not exist. So
make them beforehand, empty and of type Opaque; data that a manifest does not name is not reset by an upgrade.`,
		Example: `  webhookd certs ensure --secret webhookd/webhookd-tls --service webhookd/webhookd --crd crontabs.example.com
  webhookd certs ensure --secret webhookd/webhookd-tls --service webhookd/webhookd --crd crontabs.example.com --rotate-ca`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.certsEnsure(cmd.Context(), &o) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.secret, "secret", "", "Secret that webhookd serves from, as `NAMESPACE/NAME`")
	o.addService(flags, "Service of webhookd")
	flags.StringArrayVar(&o.names, "crd", nil, "CRD that points at the Service, as `PLURAL.GROUP`; may be given more than once")
	const day = 24 * time.Hour
	flags.DurationVar(&o.policy.CAValidity, "ca-validity", 3650*day, "how long a new CA is valid; replaced when a fifth is left")
	flags.DurationVar(&o.policy.LeafValidity, "leaf-validity", 90*day, "how long a new certificate is valid")
	flags.DurationVar(&o.policy.RenewBefore, "renew-before", 30*day, "how long before its end a certificate is renewed")
	flags.DurationVar(&o.policy.Settle, "settle", selfmanaged.DefaultSettle, "how long others have to take notice of a change of the CA")
	flags.BoolVar(&o.rotate, "rotate-ca", false, "begin to replace the CA now, unless that is going on")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long all of it may take")
	o.api.add(flags)
	return cmd
}

// maxEnsure is well below the least time to settle: a run must not go on with what it read long ago.
const maxEnsure = 5 * time.Minute

func (p *program) certsEnsure(ctx context.Context, o *ensureOptions) error {
	var secretErr, serviceErr, timeoutErr error
	secret, err := crdwire.ParseService(o.secret) // the same rules
	switch {
	case o.secret == "":
		secretErr = errors.New("no Secret: give that of webhookd with --secret NAMESPACE/NAME")
	case err != nil:
		secretErr = fmt.Errorf("--secret: not a Secret, write NAMESPACE/NAME: %q", o.secret)
	}
	o.port, o.path = crdwire.DefaultPort, crdwire.DefaultPath
	target, serviceErr := o.target()
	if o.timeout <= 0 || o.timeout > maxEnsure {
		timeoutErr = fmt.Errorf("write more than 0s and at most %s: --timeout %s", maxEnsure, o.timeout)
	}
	if err := errors.Join(secretErr, serviceErr, crdNames("crd", o.names), o.policy.Check(), timeoutErr); err != nil {
		return usage(err, "")
	}
	api, _, err := o.api.client(p, "")
	if err != nil {
		return err
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return selfmanaged.Ensure(ctx, api, selfmanaged.Options{
		Namespace: secret.Namespace, Secret: secret.Name, Service: target, CRDs: o.names,
		Policy: o.policy, Rotate: o.rotate, Now: time.Now, Log: p.tell,
	})
}
