package config

import (
	"encoding/csv"
	"errors"
	"net"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind is how the text of a value is read. There is no kind for free text, on purpose: a secret
// has no key that would take it, only a file that it can be in.
type Kind int

// The kinds.
const (
	Address  Kind = iota // HOST:PORT or :PORT
	URLPath              // of a URL, without query
	File                 // path of a file or folder; may be empty
	Names                // list of certificate names
	Choice               // one of Key.Choices
	Bool                 // true or false
	Count                // whole number
	Percent              // whole number
	Duration             // as time.ParseDuration reads it
	Size                 // as ParseBytes reads it
)

// String returns the name of the kind as --help shows it.
func (k Kind) String() string {
	switch k {
	case Address:
		return "address"
	case URLPath:
		return "path"
	case File:
		return "file"
	case Names:
		return "names"
	case Choice:
		return "choice"
	case Bool:
		return "bool"
	case Count:
		return "number"
	case Percent:
		return "percent"
	case Duration:
		return "duration"
	case Size:
		return "size"
	}
	return "kind " + strconv.Itoa(int(k))
}

// noun returns the name of the kind as sentences have it.
func (k Kind) noun() string {
	switch k {
	case URLPath:
		return "URL path"
	case File:
		return "path of a file or folder"
	case Bool:
		return "boolean"
	case Address, Names, Choice, Count, Percent, Duration, Size:
	}
	return k.String()
}

var (
	errAddress  = errors.New("not an address: write HOST:PORT or :PORT with a port from 0 to 65535, such as 127.0.0.1:8080")
	errURLPath  = errors.New("not a plain URL path: write letters, digits and -._~ between slashes, such as /crdconvert")
	errReserved = errors.New("/readyz is the health check's: write another path, such as /crdconvert")
	errFile     = errors.New("not a path of a file: write one without control characters")
	errName     = errors.New("not a name: write the common name or DNS name of a certificate")
	errList     = errors.New("not a list: write names with commas between them")
	errBool     = errors.New("not a boolean: write true or false")
	errCount    = errors.New("not a number: write digits only, such as 250")
	errPercent  = errors.New("not a percentage: write digits only, such as 25")
	errDuration = errors.New("not a duration: write a number with a unit, such as 15s or 2m")
)

// Lengths are checked apart: a bounded repetition costs most of a megabyte to compile.
var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	urlPath  = regexp.MustCompile(`^/[A-Za-z0-9._~/-]*$`)
)

// check reports what is wrong with the text of one value; bounds are not looked at.
func (k Key) check(text string) error {
	var err error
	switch k.Kind {
	case Address:
		_, _, err = parseAddress(text)
	case URLPath:
		err = checkURLPath(text)
	case File:
		if !plain(text) {
			err = errFile
		}
	case Names:
		err = checkName(text)
	case Choice:
		err = k.checkChoice(text)
	case Bool:
		if _, e := strconv.ParseBool(text); e != nil {
			err = errBool
		}
	case Count, Percent, Duration, Size:
		_, err = k.number(text)
	}
	return err
}

// number reads the text of a kind that has bounds: nanoseconds of a duration, bytes of a size.
func (k Key) number(text string) (int64, error) {
	switch k.Kind {
	case Count, Percent:
		n, err := strconv.ParseInt(text, 10, 32)
		if err == nil {
			return n, nil
		}
		if k.Kind == Percent {
			return 0, errPercent
		}
		return 0, errCount
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errDuration
		}
		return int64(d), nil
	case Size:
		b, err := ParseBytes(text)
		return int64(b), err
	case Address, URLPath, File, Names, Choice, Bool:
	}
	return 0, errors.New(k.Kind.String() + " is not a number")
}

func (k Key) checkChoice(text string) error {
	if slices.Contains(k.Choices, text) {
		return nil
	}
	return errors.New("not one of the choices: write " + choices(k.Choices))
}

// choices returns "a, b or c".
func choices(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func parseAddress(text string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, errAddress
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, errAddress
	}
	if _, err := netip.ParseAddr(host); host != "" && err != nil && (len(host) > 253 || !hostName.MatchString(host)) {
		return "", 0, errAddress
	}
	return host, uint16(n), nil
}

// checkURLPath also keeps out what the router would take for a pattern.
func checkURLPath(text string) error {
	clean := trimSlash(text)
	if len(text) > 1000 || !urlPath.MatchString(text) || strings.Contains(text, "//") || path.Clean(clean) != clean {
		return errURLPath
	}
	if clean == "/readyz" {
		return errReserved
	}
	return nil
}

// trimSlash removes one trailing slash, but keeps the root.
func trimSlash(p string) string {
	if len(p) > 1 {
		return strings.TrimSuffix(p, "/")
	}
	return p
}

func checkName(text string) error {
	if text == "" || len(text) > 253 || strings.TrimSpace(text) != text || !plain(text) {
		return errName
	}
	return nil
}

// plain reports whether text is UTF-8 without control characters.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// splitNames reads a list as a flag writes it: with commas, quotes as in RFC 4180.
func splitNames(text string) ([]string, error) {
	if text == "" {
		return []string{}, nil
	}
	r := csv.NewReader(strings.NewReader(text))
	names, err := r.Read()
	if err != nil || r.InputOffset() != int64(len(text)) {
		return nil, errList
	}
	return names, nil
}

// formatDuration drops the zero units that time.Duration writes out: 2m, not 2m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
