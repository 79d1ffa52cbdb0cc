package config

import (
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind is how the text of a value is read. There is deliberately no kind for free text: a secret
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
	Duration             // as time.ParseDuration reads it
	Size                 // as ParseBytes reads it
)

// kindText is what people read about a kind.
type kindText struct {
	arg  string // the value in --help
	noun string // the value in a sentence
	not  string // what is wrong with any other text, and what to write instead
}

func (k Kind) text() kindText {
	return [...]kindText{
		Address:  {"address", "address", "not an address: write HOST:PORT or :PORT with a port from 0 to 65535, such as 127.0.0.1:8080"},
		URLPath:  {"path", "URL path", "not a plain URL path: write letters, digits and -._~ between slashes, such as /crdconvert"},
		File:     {"file", "path of a file or folder", "not a path of a file: write one without control characters"},
		Names:    {"names", "names", "not a name: write the common name or DNS name of a certificate"},
		Choice:   {"choice", "choice", "not one of the choices: write "},
		Bool:     {"bool", "boolean", "not a boolean: write true or false"},
		Duration: {"duration", "duration", "not a duration: write a number with a unit, such as 15s or 2m"},
		Size:     {"size", "size", "not a size: write bytes as a number, or with a unit, such as 128Mi or 1Gi"},
	}[k]
}

// Lengths are checked apart: a bounded repetition costs most of a megabyte to compile.
var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	urlPath  = regexp.MustCompile(`^/[A-Za-z0-9._~/-]*$`)
)

// zeroUnits are the units that time.Duration writes although they are zero: it writes 2m as 2m0s.
var zeroUnits = regexp.MustCompile(`([hm])(0m)?0s$`)

// parse reads a value. That of [Names] is in list, or in text with commas where list is nil. It
// returns a string, []string, bool, time.Duration or [Bytes], and does not check bounds.
func (k Key) parse(text string, list []string) (value any, err error) {
	value = text
	valid := true
	switch k.Kind {
	case Address:
		valid = isAddress(text)
	case URLPath:
		clean := strings.TrimSuffix(text, "/")
		if clean == "/readyz" {
			return nil, errors.New("/readyz is the health check's: write another path, such as /crdconvert")
		}
		// The form also refuses what the router would take for a pattern.
		valid = clean != "" && len(text) <= 1000 && urlPath.MatchString(text) && !strings.Contains(text, "//") && path.Clean(clean) == clean
	case File:
		valid = plain(text)
	case Names:
		if list == nil {
			if list, valid = splitNames(text); !valid {
				return nil, errors.New("not a list: write names with commas between them")
			}
		}
		value, valid = list, !slices.ContainsFunc(list, func(name string) bool { return !isName(name) })
	case Choice:
		if !slices.Contains(k.Choices, text) {
			return nil, errors.New(k.Kind.text().not + choices(k.Choices))
		}
	case Bool:
		value, err = strconv.ParseBool(text)
	case Duration:
		value, err = time.ParseDuration(text)
	case Size:
		value, err = ParseBytes(text)
	}
	if err != nil || !valid {
		return nil, errors.New(k.Kind.text().not) // errors of strconv quote the value
	}
	return value, nil
}

// render is the reverse of parse.
func render(value any) (text string, list []string) {
	switch x := value.(type) {
	case []string:
		return "", x
	case time.Duration:
		return zeroUnits.ReplaceAllString(x.String(), "$1"), nil
	}
	return fmt.Sprint(value), nil
}

// checkBounds reports a value that parse returned and that is below Min or above Max.
func (k Key) checkBounds(value any) error {
	n := reflect.ValueOf(value)
	if !n.CanInt() || n.IsZero() && k.Zero != "" {
		return nil
	}
	switch {
	case n.Int() > k.bound(k.Max):
		return fmt.Errorf("too large: write at most %s%s", k.Max, k.reason())
	case n.Int() >= k.bound(k.Min):
		return nil
	case k.Zero != "":
		return fmt.Errorf("too small: write 0 (%s) or at least %s%s", k.Zero, k.Min, k.reason())
	}
	return fmt.Errorf("too small: write at least %s%s", k.Min, k.reason())
}

func (k Key) bound(text string) int64 {
	value, _ := k.parse(text, nil) // the bounds of the table are valid
	return reflect.ValueOf(value).Int()
}

func (k Key) reason() string {
	if k.Why == "" {
		return ""
	}
	return " (" + k.Why + ")"
}

// choices returns "a, b or c".
func choices(all []string) string {
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func isAddress(text string) bool {
	host, digits, err := net.SplitHostPort(text)
	_, notPort := strconv.ParseUint(digits, 10, 16)
	_, notIP := netip.ParseAddr(host)
	known := host == "" || notIP == nil || len(host) <= 253 && hostName.MatchString(host)
	return err == nil && notPort == nil && known
}

func isName(text string) bool {
	return text != "" && len(text) <= 253 && strings.TrimSpace(text) == text && plain(text)
}

// plain reports whether text is UTF-8 without control characters.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// splitNames reads a list as a flag writes it: with commas, and quotes as in RFC 4180. It is not
// left to pflag, which ignores all but the first line.
func splitNames(text string) (names []string, valid bool) {
	if text == "" {
		return []string{}, true
	}
	r := csv.NewReader(strings.NewReader(text))
	names, err := r.Read()
	return names, err == nil && r.InputOffset() == int64(len(text))
}
