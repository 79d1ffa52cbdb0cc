package roundtrip

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// formatted makes a string of a format that the API server checks; of others it makes none. The formats are those of
// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go, and dashes in their names do not count.
func (m *maker) formatted(format string) (s string, made bool) {
	switch strings.ReplaceAll(format, "-", "") {
	case "datetime":
		return m.time().Format(pick(m.r, time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05.000Z07:00")), true
	case "date":
		return m.time().Format(time.DateOnly), true
	case "duration":
		return pick(m.r,
			"0s", "1s", "90s", "1m30s", "1h0m0s", "500ms", "1.5h", "1h", "-1m", "100us", "24h", "22 ns", "3 days", "1 hour",
		), true
	case "byte":
		bytes := make([]byte, m.r.IntN(12))
		for i := range bytes {
			bytes[i] = byte(m.r.IntN(256)) //nolint:gosec // a byte
		}
		return base64.StdEncoding.EncodeToString(bytes), true
	case "uuid", "uuid4":
		return m.uuid('4'), true
	case "uuid3":
		return m.uuid('3'), true
	case "uuid5":
		return m.uuid('5'), true
	case "ipv4", "ip":
		return m.ipv4().String(), true
	case "ipv6":
		return pick(m.r, "::1", "::", "2001:db8::8a2e:370:7334", "fe80::1", "2001:0db8:0000:0000:0000:0000:0000:0001"), true
	case "cidr":
		return pick(m.r, "10.0.0.0/8", "192.168.1.0/24", "10.1.2.3/32", "2001:db8::/32", "0.0.0.0/0"), true
	case "mac":
		return fmt.Sprintf("02:00:00:%02x:%02x:%02x", m.r.IntN(256), m.r.IntN(256), m.r.IntN(256)), true
	}
	return m.formattedName(strings.ReplaceAll(format, "-", ""))
}

// formattedName makes those that are names or numbers of some kind.
func (m *maker) formattedName(format string) (s string, made bool) {
	pools := map[string][]string{
		"uri": {
			"https://example.com/a?b=c#d", "http://localhost:8080", "urn:a:b", "ftp://user:pw@host/x", "/path",
			"https://[::1]:443/",
		},
		"email":        {"user@example.com", "a.b+c@d.example", "Some One <user@example.com>"},
		"hostname":     {"example.com", "a", "a-b.example.com", "localhost"},
		"k8sshortname": {"a", "a-b", "web-0", "x1"},
		"k8slongname":  {"a", "a.b", "a-b.example.com", "web-0.c"},
		"hexcolor":     {"#FFFFFF", "#000", "fff", "00ff7f"},
		"rgbcolor":     {"rgb(255,255,255)", "rgb(0,0,0)", "rgb(1, 2, 3)"},
		"bsonobjectid": {"507f1f77bcf86cd799439011", "000000000000000000000000"},
		"isbn":         {"0321751043", "978-0321751041"},
		"isbn10":       {"0321751043"},
		"isbn13":       {"978-0321751041"},
		"creditcard":   {"4111111111111111", "4111-1111-1111-1111"},
		"ssn":          {"111-22-3333", "111 22 3333"},
	}
	if pool := pools[format]; pool != nil {
		return pick(m.r, pool...), true
	}
	return "", false
}

func (m *maker) time() time.Time {
	t := time.Unix(m.r.Int64N(1<<32), 0).UTC()
	if m.chance(4) {
		t = t.Add(time.Duration(m.r.IntN(int(time.Second)))).In(time.FixedZone("", 3600*(m.r.IntN(25)-12)))
	}
	return t
}

func (m *maker) uuid(version byte) string {
	const digits = "0123456789abcdef"
	id := []byte("xxxxxxxx-xxxx-" + string(version) + "xxx-8xxx-xxxxxxxxxxxx")
	for i, c := range id {
		if c == 'x' {
			id[i] = digits[m.r.IntN(16)]
		}
	}
	return string(id)
}

func (m *maker) ipv4() netip.Addr {
	n := m.r.Uint32()
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) //nolint:gosec // its bytes
}
