package config

import (
	"errors"
	"fmt"
	"net/netip"
)

// Validate reports everything that is wrong with c as joined [Error] errors. The origins are
// named in them and may be nil. It doesn't look at files or addresses, and it doesn't ask for
// what only the server needs; [Loaded.ForServe] does.
func (c Config) Validate(origins Origins) error {
	return join(c.problems(origins, map[string]bool{}))
}

// problems also marks in bad the keys that it found fault with by themselves. Rules that involve
// a bad key aren't applied, since what they would say may not be so.
func (c Config) problems(origins Origins, bad map[string]bool) []*Error {
	var all []*Error
	for _, k := range Keys() {
		if bad[k.Name] {
			continue
		}
		if err := k.validate(c); err != nil {
			bad[k.Name] = true
			all = append(all, &Error{Key: k.Name, Origin: origins[k.Name], Text: err.Error()})
		}
	}
	return append(all, c.apply(rules(), origins, bad)...)
}

// validate checks form and bounds of the value that c has for k.
func (k Key) validate(c Config) error {
	text, list := k.text(c)
	if k.Kind == Names {
		return k.checkEntry(entry{value: list})
	}
	if err := k.check(text); err != nil {
		return err
	}
	switch k.Kind {
	case Count, Percent, Duration, Size:
		return k.checkBounds(text)
	case Address, URLPath, File, Names, Choice, Bool:
	}
	return nil
}

func (k Key) checkBounds(text string) error {
	n, err := k.number(text)
	if err != nil {
		return err
	}
	if n == 0 && k.Zero != "" {
		return nil
	}
	lowest, err := k.number(k.lowest())
	if err != nil {
		return err
	}
	if n < lowest {
		zero := ""
		if k.Zero != "" {
			zero = fmt.Sprintf("0 (%s) or ", k.Zero)
		}
		return fmt.Errorf("too small: write %sat least %s%s", zero, k.lowest(), k.reason())
	}
	if k.Max == "" {
		return nil
	}
	highest, err := k.number(k.Max)
	if err != nil {
		return err
	}
	if n > highest {
		return fmt.Errorf("too large: write at most %s%s", k.Max, k.reason())
	}
	return nil
}

// lowest returns Min or its default.
func (k Key) lowest() string {
	switch {
	case k.Min != "":
		return k.Min
	case k.Kind == Duration:
		return "0s"
	}
	return "0"
}

func (k Key) reason() string {
	if k.Why == "" {
		return ""
	}
	return " (" + k.Why + ")"
}

// rule is a demand on more than one key.
type rule struct {
	key    string // that is named first
	others []string
	broken func(c Config) bool
	text   string // with a verb for each of others, which becomes its name and origin
}

func rules() []rule {
	return []rule{
		{
			"admin-listen",
			[]string{"listen"},
			func(c Config) bool { return overlap(c.Listen, c.AdminListen) },
			"the same port as %s: write another one",
		},
		{
			"self-signed",
			[]string{"tls-dir"},
			func(c Config) bool { return c.SelfSigned && c.TLSDir != "" },
			"not possible together with %s: set only one of the two",
		},
		{
			"tls-static",
			[]string{"tls-dir"},
			func(c Config) bool { return c.TLSStatic && c.TLSDir == "" },
			"of no use without %s: set tls-dir, or leave tls-static out",
		},
		{
			"rules",
			[]string{"crds"},
			func(c Config) bool { return c.Rules != "" && c.CRDs == "" },
			"of no use without %s: set crds to the CRDs that the rules are about",
		},
		{
			"client-names",
			[]string{"client-ca-file"},
			func(c Config) bool { return len(c.ClientNames) > 0 && c.ClientCAFile == "" },
			"of no use without %s: set client-ca-file, or leave client-names out",
		},
		{
			"small-body",
			[]string{"max-body"},
			func(c Config) bool { return c.SmallBody > c.MaxBody },
			"larger than %s: write at most its size",
		},
		{
			"max-in-flight-bytes",
			[]string{"max-body", "small-body-share"},
			func(c Config) bool {
				return c.MaxInFlightBytes > 0 && c.MaxInFlightBytes*Bytes(100-c.SmallBodyShare)/100 < c.MaxBody
			},
			"too small for one body of %s beside %s: raise it, or lower max-body",
		},
		{
			"max-in-flight-bytes",
			[]string{"memory-limit"},
			func(c Config) bool { return c.MemoryLimit > 0 && c.MaxInFlightBytes >= c.MemoryLimit },
			"not below %s: write 60 %% of that or less",
		},
		{
			"queue-wait",
			[]string{"request-timeout"},
			func(c Config) bool { return c.QueueWait >= c.RequestTimeout },
			"not below %s: write less, so that time is left to convert",
		},
	}
}

// serveRules hold for the verb that serves, beside the others.
func serveRules() []rule {
	return []rule{{
		"tls-dir",
		[]string{"self-signed"},
		func(c Config) bool { return c.TLSDir == "" && !c.SelfSigned },
		"no certificate to serve with: set it to a folder with tls.crt and tls.key, or for local use set %s",
	}}
}

// apply returns the problems with the rules that c breaks and that no bad key is part of.
func (c Config) apply(rules []rule, origins Origins, bad map[string]bool) []*Error {
	var all []*Error
	for _, r := range rules {
		skip := bad[r.key]
		args := make([]any, len(r.others))
		for i, name := range r.others {
			skip = skip || bad[name]
			args[i] = fmt.Sprintf("%s (%s)", name, origins[name])
		}
		if !skip && r.broken(c) {
			all = append(all, &Error{Key: r.key, Origin: origins[r.key], Text: fmt.Sprintf(r.text, args...)})
		}
	}
	return all
}

// overlap reports whether two listeners would want the same port of the same host. Port 0 is
// another one each time.
func overlap(a, b string) bool {
	hostA, portA, errA := parseAddress(a)
	hostB, portB, errB := parseAddress(b)
	if errA != nil || errB != nil || portA != portB || portA == 0 {
		return false
	}
	return hostA == hostB || wildcard(hostA) || wildcard(hostB)
}

func wildcard(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}

func join(problems []*Error) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}
