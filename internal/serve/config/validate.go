package config

import "fmt"

// problems collects what is wrong, and the keys whose value is not known because of it.
type problems struct {
	origins Origins // of the values that are validated
	all     []error
	bad     map[string]bool
}

// add takes an empty key if the problem is not that of one key.
func (p *problems) add(key string, from Origin, err error) {
	p.all = append(p.all, &Error{Key: key, Origin: from, Err: err})
	p.bad[key] = true
}

// demand reports a problem with key unless it is met. The text has a verb for each of the others,
// which becomes its name and origin. A demand that involves a bad key is skipped, since the value
// that was meant may meet it.
func (p *problems) demand(met bool, key, text string, others ...string) {
	skip := met || p.bad[key]
	args := make([]any, len(others))
	for i, name := range others {
		skip = skip || p.bad[name]
		args[i] = fmt.Sprintf("%s (%s)", name, p.origins[name])
	}
	if !skip {
		p.all = append(p.all, &Error{Key: key, Origin: p.origins[key], Err: fmt.Errorf(text, args...)})
	}
}

func (p *problems) validate(c Config) {
	values := c.values()
	for _, k := range Keys() {
		if p.bad[k.Name] {
			continue
		}
		value, err := k.parse(render(values[k.Name]))
		if err == nil {
			err = k.checkBounds(value)
		}
		if err != nil {
			p.add(k.Name, p.origins[k.Name], err)
		}
	}

	p.demand(!c.SelfSigned || c.TLSDir == "", "self-signed", "not possible together with %s: set only one of the two", "tls-dir")
	p.demand(!c.SelfSigned || c.ClientCAFile == "", "client-ca-file", "not possible together with %s: set only one of the two", "self-signed")
	p.demand(c.Rules == "" || c.CRDs != "", "rules",
		"of no use without %s: set crds to the CRDs that the rules are about", "crds")
	p.demand(len(c.ClientNames) == 0 || c.ClientCAFile != "", "client-names",
		"of no use without %s: set client-ca-file, or leave client-names out", "client-ca-file")
	p.demand(c.MaxInFlightBytes == 0 || c.MaxInFlightBytes/4*3 >= c.MaxBody, "max-in-flight-bytes",
		"too small for one body of %s, which may take three quarters of it: raise it, or lower max-body", "max-body")
	p.demand(c.MemoryLimit == 0 || c.MaxInFlightBytes < c.MemoryLimit, "max-in-flight-bytes",
		"not below %s: write 60 %% of that or less", "memory-limit")
}
