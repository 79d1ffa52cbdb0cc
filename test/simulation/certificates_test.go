package simulation_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/cluster/selfmanaged"
	"github.com/crdconvert/webhookd/internal/tlsreload"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const (
	serverName = "webhookd.webhookd.svc"
	// lag is the longest that an API server goes on with a caBundle, and a kubelet with a Secret.
	lag = 2 * time.Minute
)

// Certificates are the Secrets and the caBundle of the CRD, from the rotation on.
type certificates struct {
	selfmanaged.State

	leaf     tlstest.Pair
	issuers  []*tlstest.CA   // the newest is the last
	bundles  []bundle        // that the CRD has had, the newest last
	verified map[string]bool // leaves by bundles
}

type bundle struct {
	crdwire.Bundle

	until time.Time // zero for the newest
}

func (c *certificates) set(b crdwire.Bundle) {
	if n := len(c.bundles); n > 0 {
		c.bundles[n-1].until = time.Now()
	}
	c.bundles = append(c.bundles, bundle{Bundle: b})
	c.CRDs = []selfmanaged.CRD{{Name: "jobs." + group, Bundle: b}}
}

func (c *call) newCA() *selfmanaged.Pair {
	ca := tlstest.NewCA(c.t, "CA")
	c.certs.issuers = append(c.certs.issuers, ca)
	return &selfmanaged.Pair{Cert: ca.Cert}
}

// issue puts a leaf of the newest CA into the Secret. A replica gets it within the lag.
func (c *call) issue() {
	issuers := c.certs.issuers
	c.certs.leaf = issuers[len(issuers)-1].Issue(c.t, tlstest.Leaf{Hosts: []string{serverName}})
	c.certs.Leaf = &selfmanaged.Pair{Cert: c.certs.leaf.Leaf, Key: c.certs.leaf.Signer}
	for _, r := range c.replicas {
		r.mounts = time.Now().Add(time.Duration(c.Int64N(int64(lag))))
	}
}

// rotate replaces the CA in the steps that webhookd decides, each in a run of its own. Since files
// take much of the time of a test, it does so once, in some clusters.
func (c *call) rotate() {
	policy := selfmanaged.Policy{
		Name: serverName, CAValidity: 96 * time.Hour, LeafValidity: 24 * time.Hour, RenewBefore: time.Hour, StepDelay: 10 * time.Minute,
	}
	if c.certs != nil || c.IntN(2) == 0 {
		return
	}
	s := &certificates{verified: map[string]bool{}}
	c.certs = s
	s.CA = c.newCA()
	s.Published = crdwire.Bundle{s.CA.Cert}
	s.set(s.Published)
	c.issue()
	for begins := true; ; begins = false {
		step := selfmanaged.Next(s.State, policy, time.Now(), begins)
		pause := time.Second
		switch step.Do {
		case selfmanaged.MakeNext:
			s.Next, s.TrustedSince = c.newCA(), time.Time{}
		case selfmanaged.TrustInCRD:
			s.set(step.Bundle)
		case selfmanaged.Publish:
			s.Published = step.Bundle
		case selfmanaged.Trust:
			s.TrustedSince = time.Now()
		case selfmanaged.Promote:
			s.CA, s.Next = s.Next, nil
		case selfmanaged.Issue:
			s.Published = step.Bundle
			c.issue()
		case selfmanaged.Wait:
			if pause = time.Until(step.At); pause > time.Hour {
				return
			}
		default:
			c.fail("failed: certificates: %s", step.Why)
			return
		}
		c.trace("certificates: %s", step.Why)
		c.wait(pause, pause+time.Minute)
	}
}

// connect makes a TLS connection to a replica, as the API server does before a call. A leaf that it
// has verified by a caBundle stays so.
func (c *call) connect(r *replica) error {
	s := c.certs
	if s == nil {
		return nil
	}
	if err := r.mount(); err != nil {
		return err
	}
	possible := slices.DeleteFunc(slices.Clone(s.bundles), func(b bundle) bool { return !b.until.IsZero() && time.Since(b.until) > lag })
	trusts := possible[c.IntN(len(possible))].Bundle
	key := r.source.Served().Fingerprint + fmt.Sprintf("%x", trusts.PEM())
	if s.verified[key] {
		return nil
	}
	client, server := net.Pipe()
	var served sync.WaitGroup
	served.Go(func() { _ = tls.Server(server, r.source.TLSConfig()).HandshakeContext(c.t.Context()) }) // the client says why
	// A client that refuses a certificate would write while the server does: a pipe has no buffer.
	conn := tls.Client(client, &tls.Config{InsecureSkipVerify: true, ServerName: serverName}) // verified below
	err := conn.HandshakeContext(c.t.Context())
	_, _ = client.Close(), server.Close()
	served.Wait()
	if err == nil {
		err = trusts.Verifies(conn.ConnectionState().PeerCertificates, serverName, time.Now())
	}
	s.verified[key] = err == nil
	return err
}

// mount gives a replica the Secret once its kubelet has it.
func (r *replica) mount() (err error) {
	leaf := r.certs.leaf
	if r.leaf != leaf.Leaf && (r.source == nil || !time.Now().Before(r.mounts)) {
		if r.leaf = leaf.Leaf; r.dir == "" {
			r.dir = r.t.TempDir()
		}
		tlstest.SwapSecretDir(r.t, r.dir, leaf.Files())
		if r.source != nil {
			once, end := context.WithCancel(r.t.Context())
			end()
			r.source.Run(once)
		}
	}
	if r.source == nil {
		r.source, err = tlsreload.Open(r.t.Context(), tlsreload.Options{Dir: r.dir})
	}
	return err
}
