package gate

import "net/netip"

// SourceOf returns the source of an address, which is who shares: an IPv4 address or, as one host
// often has one whole, a network of 64 bits of IPv6 addresses. Clients behind one address
// translation are one source.
func SourceOf(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 32
	}
	p, _ := addr.Prefix(bits) // of no address, such as that of a pipe, the zero Prefix
	return p
}
