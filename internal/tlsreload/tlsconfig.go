package tlsreload

import "crypto/tls"

// TLSConfig returns a server configuration that gets the key pair, and the client CA, from s at
// each handshake. It has TLS 1.3 alone, which every kube-apiserver speaks.
//
// Only http/1.1 is negotiated. kube-apiserver never uses HTTP/2 for a conversion webhook behind a
// Service, so nothing is lost, and attacks on HTTP/2 are impossible. An http.Server adds h2 to the
// configuration of ServeTLS: pass the configuration to tls.NewListener instead.
//
// With a client CA a client certificate is required and verified, the allowed names are checked,
// and there are no session tickets, so each connection verifies its client. Connections made before
// the client CA changed are not closed.
func (s *Source) TLSConfig() *tls.Config {
	if s.opts.ClientCAFile == "" {
		return s.baseConfig()
	}
	verify := verifyNames(s.opts.ClientNames)
	mutual := func() *tls.Config {
		c := s.baseConfig()
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = s.state.Load().clients.pool
		c.VerifyConnection = verify
		c.SessionTicketsDisabled = true
		return c
	}
	c := mutual()
	// Each handshake gets a new configuration: the pool of one in use cannot be replaced, and
	// cloning one takes a lock.
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return mutual(), nil }
	return c
}

func (s *Source) baseConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.Certificate(), nil
		},
	}
}
