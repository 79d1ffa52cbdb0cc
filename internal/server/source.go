package server

import (
	"net"
	"net/http"
	"net/netip"
)

// A source is who shares: an IPv4 address or, as one host often has one whole, a network of 64 bits
// of IPv6 addresses. Clients behind one address translation are one source.
func source(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 32
	}
	p, _ := addr.Prefix(bits) // of no address, such as that of a pipe, the zero Prefix
	return p
}

func sourceOfConn(c net.Conn) netip.Prefix {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	return source(tcp.AddrPort().Addr())
}

// sourceOfRequest is for requests of another server's listener, too.
func sourceOfRequest(r *http.Request) netip.Prefix {
	if c := connOfRequest(r); c != nil {
		return c.source
	}
	addr, _ := netip.ParseAddrPort(r.RemoteAddr)
	return source(addr.Addr())
}
