package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

var (
	errNotChecked    = errors.New("not checked yet")
	errNoExpectation = errors.New("no certificate to serve")
	errStale         = errors.New("the served certificate is not the one on disk")
)

// A selfCheck dials the webhook listener as a client would and compares the served certificate with
// the expected one. Other servers kept an old certificate for days after a failed reload
// (gatekeeper#1045, rook#10719, linkerd2#5888).
type selfCheck struct {
	expected func() *tls.Certificate
	interval time.Duration              // between two looks
	dialing  func(local netip.AddrPort) // called before each handshake

	result atomic.Pointer[checkResult]
}

type checkResult struct{ err error }

func newSelfCheck(expected func() *tls.Certificate, dialing func(netip.AddrPort)) *selfCheck {
	c := &selfCheck{expected: expected, interval: 5 * time.Second, dialing: dialing}
	c.result.Store(&checkResult{errNotChecked})
	return c
}

// check returns the last result, for readiness.
func (c *selfCheck) check(context.Context) error { return c.result.Load().err }

// run looks at once and then at intervals until ctx ends. After a success, a first failure is
// repeated before it counts: a reload gets most of an interval to finish, and so does a burst of
// connections.
func (c *selfCheck) run(ctx context.Context, look func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	forgiven := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := look(ctx)
		if err != nil && !forgiven && c.check(ctx) == nil {
			forgiven = true
			timer.Reset(c.interval / 5 * 4)
			continue
		}
		forgiven = false
		c.result.Store(&checkResult{err})
		timer.Reset(c.interval)
	}
}

// look returns nil if the served leaf is the expected one, and valid.
func (c *selfCheck) look(ctx context.Context, addr net.Addr) error {
	want := c.expected()
	if want == nil || len(want.Certificate) == 0 {
		return errNoExpectation
	}
	ctx, cancel := context.WithTimeout(ctx, c.interval)
	defer cancel()
	leaf, err := c.servedLeaf(ctx, addr)
	if err != nil {
		return fmt.Errorf("cannot reach the webhook listener: %w", err)
	}
	if !bytes.Equal(leaf.Raw, want.Certificate[0]) {
		return errStale
	}
	return validNow(leaf, time.Now())
}

func validNow(leaf *x509.Certificate, now time.Time) error {
	switch {
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// servedLeaf does a handshake and returns the server's leaf, even if the handshake then fails
// because a client certificate is missing.
func (c *selfCheck) servedLeaf(ctx context.Context, addr net.Addr) (*x509.Certificate, error) {
	raw, err := dialSelf(ctx, addr)
	if err != nil {
		return nil, err
	}
	local, _ := netip.ParseAddrPort(raw.LocalAddr().String())
	c.dialing(local)
	var leaf *x509.Certificate
	tlsConn := tls.Client(raw, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		// It sends nothing, and compares the certificate byte by byte instead.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf = state.PeerCertificates[0]
			return nil
		},
	})
	err = tlsConn.HandshakeContext(ctx)
	_ = tlsConn.Close()
	if leaf != nil {
		return leaf, nil
	}
	return nil, err
}

// dialSelf connects to a listener's own address, over loopback if it listens on all addresses.
func dialSelf(ctx context.Context, addr net.Addr) (net.Conn, error) {
	var errs []error
	for _, target := range ownAddresses(addr) {
		c, err := new(net.Dialer).DialContext(ctx, addr.Network(), target)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func ownAddresses(addr net.Addr) []string {
	a, err := netip.ParseAddrPort(addr.String())
	if err != nil || !a.Addr().IsUnspecified() {
		return []string{addr.String()}
	}
	targets := []string{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()).String()}
	if a.Addr().Is6() {
		targets = append(targets, netip.AddrPortFrom(netip.IPv6Loopback(), a.Port()).String())
	}
	return targets
}
