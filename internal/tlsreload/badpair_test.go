package tlsreload

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A damage breaks a mounted Secret.
type damage struct {
	name string
	want string                                       // part of the error that Failed receives
	data func(t *testing.T, k kit) (cert, key []byte) // new contents of the Secret, or
	dir  func(t *testing.T, k kit, dir string)        // changes its directory
	read func(t *testing.T, read func())              // wraps the reading; nil: reads directly
}

// A kit has the pairs to make a damage from.
type kit struct {
	ca          *tlstest.CA
	pair, other tlstest.Pair
}

// C13: no pair that clients could not use replaces a good one, the reason is reported once, and the
// next good pair is served.
func TestBadPairsNeverReplaceAGoodOne(t *testing.T) {
	t.Parallel()
	for _, d := range slices.Concat(badFiles(), badKeys(), badLeaves(), badDirectories(), badPermissions()) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testDamage(t, d) })
		})
	}
}

func testDamage(t *testing.T, d damage) {
	t.Helper()
	ca := tlstest.NewCA(t, "ca")
	k := kit{
		ca:    ca,
		pair:  ca.Intermediate(t, "intermediate").Issue(t, tlstest.Leaf{}),
		other: ca.Issue(t, tlstest.Leaf{}),
	}
	dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
	var calls log
	s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
	good := s.Certificate()

	if d.data != nil {
		cert, key := d.data(t, k)
		tlstest.SwapSecretDir(t, dir, map[string][]byte{CertFile: cert, KeyFile: key})
	} else {
		d.dir(t, k, dir)
	}
	read := func() {
		for range 3 {
			s.reload(t.Context())
			if s.Certificate() != good {
				t.Error("the bad pair is served")
			}
		}
	}
	if d.read != nil {
		d.read(t, read)
	} else {
		read()
	}
	calls.expect(t, "reloaded", "failed")
	if reason := calls.lastReason() + "\n"; !strings.Contains(reason, d.want) || !strings.Contains(reason, dir) {
		t.Errorf("reason: %q, want %q and the directory in it", reason, d.want)
	}

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	tlstest.WriteSecretDir(t, dir, k.pair.Files())
	s.reload(t.Context())
	expectServed(t, s, k.pair)
	calls.expect(t, "reloaded", "failed", "reloaded", "recovered")
}

func badFiles() []damage {
	both := func(f func([]byte) []byte) func(*testing.T, kit) ([]byte, []byte) {
		return func(_ *testing.T, k kit) ([]byte, []byte) { return f(k.pair.Cert), f(k.pair.Key) }
	}
	return []damage{
		{name: "empty certificate", want: "tls.crt: no PEM block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return nil, k.pair.Key
		}},
		{name: "empty key", want: "tls.key: no PEM block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, nil
		}},
		{name: "empty files", want: "tls.key: no PEM block", data: both(func([]byte) []byte { return nil })},
		{name: "garbage certificate", want: "no PEM block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return bytes.Repeat([]byte{0, 0xff, '-'}, 500), k.pair.Key
		}},
		{name: "garbage key", want: "no PEM block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, bytes.Repeat([]byte{0, 0xff, '-'}, 500)
		}},
		{name: "binary DER", want: "no PEM block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Leaf.Raw, k.pair.Key
		}},
		{name: "base64 twice", want: "no PEM block", data: both(func(b []byte) []byte {
			return []byte(base64.StdEncoding.EncodeToString(b))
		})},
		{name: "UTF-16", want: "no PEM block", data: both(toUTF16)},
		{name: "UTF-8 byte order mark", want: "damaged", data: both(func(b []byte) []byte {
			return append([]byte("\ufeff"), b...)
		})},
		{name: "line ends are CR alone", want: "damaged", data: both(func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("\n"), []byte("\r"))
		})},
		{name: "no newline between blocks", want: "damaged", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return bytes.ReplaceAll(k.pair.Cert, []byte("-----\n-----"), []byte("----------")), k.pair.Key
		}},
		{name: "disk full: certificate cut short", want: "1 of 1 PEM blocks", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.other.Cert[:len(k.other.Cert)/2], k.other.Key
		}},
		{name: "disk full: chain cut short", want: "1 of 2 PEM blocks", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert[:len(k.pair.Cert)-40], k.pair.Key
		}},
		{name: "disk full: key cut short", want: "tls.key: 1 of 1 PEM blocks", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, k.pair.Key[:len(k.pair.Key)/2]
		}},
		{name: "over 1 MiB", want: "larger than 1 MiB", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return append(bytes.Repeat([]byte("#\n"), maxFile/2), k.pair.Cert...), k.pair.Key
		}},
		{name: "bytes of the chain flipped", want: "tls.crt: block 2", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			noise := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes.Repeat([]byte{0xa5}, 300)})
			return append(slices.Clone(k.other.Cert), noise...), k.other.Key
		}},
	}
}

func badKeys() []damage {
	return []damage{
		{name: "files swapped", want: "no CERTIFICATE block", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Key, k.pair.Cert
		}},
		{name: "key of another pair", want: "does not match", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, k.other.Key
		}},
		{name: "key of another kind", want: "does not match", data: func(t *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, k.ca.Issue(t, tlstest.Leaf{Key: rsaKey(t, 2048)}).Key
		}},
		{name: "CA before leaf", want: "put the leaf first", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return slices.Concat(k.ca.PEM, k.other.Cert), k.other.Key
		}},
		{name: "encrypted key", want: "passphrase", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, bytes.ReplaceAll(k.pair.Key, []byte(" PRIVATE KEY"), []byte(" ENCRYPTED PRIVATE KEY"))
		}},
		{name: "encrypted key of the old form", want: "passphrase", data: func(_ *testing.T, k kit) ([]byte, []byte) {
			return k.pair.Cert, pem.EncodeToMemory(&pem.Block{
				Type:    "EC PRIVATE KEY",
				Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00000000000000000000000000000000"},
				Bytes:   make([]byte, 64),
			})
		}},
		{name: "public key", want: "failed to find PEM block", data: func(t *testing.T, k kit) ([]byte, []byte) {
			der, err := x509.MarshalPKIXPublicKey(k.pair.Signer.Public())
			if err != nil {
				t.Fatal(err)
			}
			return k.pair.Cert, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}},
		{name: "signing request", want: "no CERTIFICATE block", data: func(t *testing.T, k kit) ([]byte, []byte) {
			der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, k.pair.Signer)
			if err != nil {
				t.Fatal(err)
			}
			return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), k.pair.Key
		}},
	}
}

func badLeaves() []damage {
	issued := func(leaf func(t *testing.T) tlstest.Leaf) func(*testing.T, kit) ([]byte, []byte) {
		return func(t *testing.T, k kit) ([]byte, []byte) {
			p := k.ca.Issue(t, leaf(t))
			return p.Cert, p.Key
		}
	}
	return []damage{
		{name: "RSA-1024", want: "RSA key of 1024 bits", data: issued(func(t *testing.T) tlstest.Leaf {
			return tlstest.Leaf{Key: rsaKey(t, 1024)}
		})},
		{name: "P-224", want: "elliptic curve", data: issued(func(t *testing.T) tlstest.Leaf {
			key, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			return tlstest.Leaf{Key: key}
		})},
		{name: "for clients only", want: "server authentication", data: issued(func(*testing.T) tlstest.Leaf {
			return tlstest.Leaf{Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		})},
		{name: "common name only", want: "subject alternative name", data: issued(func(*testing.T) tlstest.Leaf {
			return tlstest.Leaf{CommonName: "webhookd.default.svc", Hosts: []string{}}
		})},
		{name: "ends before it starts", want: "ends before it starts", data: issued(func(*testing.T) tlstest.Leaf {
			return tlstest.Leaf{NotBefore: time.Now(), NotAfter: time.Now().Add(-time.Hour)}
		})},
		{name: "expired", want: "has expired", data: issued(func(*testing.T) tlstest.Leaf {
			return tlstest.Leaf{NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}
		})},
	}
}

func badDirectories() []damage {
	return []damage{
		{name: "no certificate", want: "no such file or directory; add it to the Secret, or set tls-dir to where it is", dir: func(t *testing.T, k kit, dir string) {
			tlstest.SwapSecretDir(t, dir, map[string][]byte{KeyFile: k.pair.Key})
		}},
		{name: "no key", want: "no such file or directory; add it to the Secret, or set tls-dir to where it is", dir: func(t *testing.T, k kit, dir string) {
			tlstest.SwapSecretDir(t, dir, map[string][]byte{CertFile: k.pair.Cert})
		}},
		{name: "certificate is a directory", want: "not a regular file\n", dir: func(t *testing.T, _ kit, dir string) {
			path := filepath.Join(dir, "..data", CertFile)
			noError(t, os.Remove(path), os.Mkdir(path, 0o755))
		}},
		{name: "link loop", want: "too many levels of symbolic links", dir: func(t *testing.T, _ kit, dir string) {
			link := filepath.Join(dir, "..data")
			noError(t, os.Remove(link), os.Symlink("..data", link))
		}},
		{name: "link to nowhere", want: "what ..data names cannot be opened: no such file", dir: func(t *testing.T, _ kit, dir string) {
			link := filepath.Join(dir, "..data")
			noError(t, os.Remove(link), os.Symlink("..gone", link))
		}},
		{name: "link out of the generation", want: "escapes", dir: func(t *testing.T, k kit, dir string) {
			outside := filepath.Join(dir, "outside.crt")
			path := filepath.Join(dir, "..data", CertFile)
			writeFile(t, outside, k.pair.Cert)
			noError(t, os.Remove(path), os.Symlink("../outside.crt", path))
		}},
		{name: "link is a directory", want: "not a usable link", dir: func(t *testing.T, _ kit, dir string) {
			link := filepath.Join(dir, "..data")
			noError(t, os.Remove(link), os.Mkdir(link, 0o755))
		}},
		{name: "link gone", want: "no such file or directory", dir: func(t *testing.T, _ kit, dir string) {
			noError(t, os.Remove(filepath.Join(dir, "..data")))
		}},
		{name: "directory gone", want: "no such file or directory, mount the Secret with the certificate there, or set tls-dir to where it is", dir: func(t *testing.T, _ kit, dir string) {
			noError(t, os.RemoveAll(dir))
		}},
		{name: "directory is a link loop", want: "too many levels of symbolic links", dir: func(t *testing.T, _ kit, dir string) {
			noError(t, os.RemoveAll(dir), os.Symlink(dir, dir))
		}},
		{name: "directory is a file", want: "not a directory, set tls-dir to the folder with the files", dir: func(t *testing.T, _ kit, dir string) {
			noError(t, os.RemoveAll(dir))
			writeFile(t, dir, nil)
		}},
	}
}

// Spellings that every PEM reader accepts are accepted.
func TestHarmlessSpellings(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	pair := ca.Intermediate(t, "intermediate").Issue(t, tlstest.Leaf{})
	long := slices.Concat(bytes.Repeat([]byte("#"), maxFile-len(pair.Cert)-1), []byte("\n"), pair.Cert)
	replace := func(b []byte, from, to string) []byte { return bytes.ReplaceAll(b, []byte(from), []byte(to)) }
	for _, test := range []struct {
		name      string
		cert, key []byte
	}{
		{"CRLF line ends", replace(pair.Cert, "\n", "\r\n"), replace(pair.Key, "\n", "\r\n")},
		{"no newline at the end", bytes.TrimSpace(pair.Cert), bytes.TrimSpace(pair.Key)},
		{"text between blocks", replace(pair.Cert, "-----BEGIN", "subject=CN = x\n-----BEGIN"), pair.Key},
		{"parameters before the key", pair.Cert, slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{5, 0}}), pair.Key)},
		{"1 MiB", long, pair.Key},
		{"key next to the certificate", slices.Concat(pair.Cert, pair.Key), pair.Key},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := secretDir(t, tlstest.Pair{Cert: test.cert, Key: test.key})
			s := open(t, Options{Dir: dir})
			expectServed(t, s, pair)
			mustDial(t, listen(t, s.TLSConfig()), &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost"})
		})
	}
}

// Certificates that clients accept are accepted, however rare.
func TestRareCertificates(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	twice := ca.Issue(t, tlstest.Leaf{})
	twice.Cert = slices.Concat(twice.Cert, ca.Issue(t, tlstest.Leaf{}).Cert)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	noError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	noError(t, err)
	own := tlstest.Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
	for name, pair := range map[string]tlstest.Pair{
		"RSA, a name and an address":   ca.Issue(t, tlstest.Leaf{Key: rsaKey(t, 2048), Hosts: []string{"localhost", "127.0.0.1"}}),
		"for any purpose":              ca.Issue(t, tlstest.Leaf{Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}),
		"another leaf behind it":       twice,
		"its own CA, for all purposes": own,
		"a CA with its CA behind it":   {Cert: slices.Concat(own.Cert, ca.PEM), Key: own.Key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open(t, Options{Dir: secretDir(t, pair)})
		})
	}
	if forServers(&x509.Certificate{ExtKeyUsage: clientUsage(), UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 2, 3}}}) {
		t.Error("a leaf for clients and something else is for servers")
	}
}

type deniedFS struct{}

func (deniedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestUnreadableFileNamesTheRemedy(t *testing.T) {
	t.Parallel()
	_, err := readFile(deniedFS{}, KeyFile, "/tls/tls.key")
	want := "/tls/tls.key: permission denied; set the pod's fsGroup or the volume's defaultMode"
	if !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func rsaKey(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func toUTF16(text []byte) []byte {
	units := utf16.Encode([]rune(string(text)))
	out := make([]byte, 0, 2+2*len(units))
	out = append(out, 0xff, 0xfe)
	for _, unit := range units {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

func noError(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
