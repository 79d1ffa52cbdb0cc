package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// ourVars returns the variables of environ ("NAME=value", as os.Environ returns them) that have our
// prefix.
func ourVars(environ []string) map[string]string {
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, envPrefix) {
			vars[name] = value
		}
	}
	return vars
}

// fromEnv reads the variables of keys. A variable that is set to nothing counts as set.
func fromEnv(vars map[string]string, p *problems) layer {
	l := layer{}
	for _, k := range Keys() {
		if text, ok := vars[k.Env()]; ok {
			l.add(k, text, nil, Origin{Source: FromEnv, Name: k.Env()}, p)
		}
	}
	return l
}

// serviceLink matches the variables that the kubelet sets for a Service called webhookd, or
// webhookd-something, in the same namespace (EnableServiceLinks of a PodSpec).
var serviceLink = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)

// unknownVars returns warnings, not errors: the owner of a container does not always control what
// else is in its environment.
func unknownVars(vars map[string]string) []string {
	known := append(Keys(), fileKey())
	var warnings []string
	for name, value := range vars {
		isLink := serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
		if isLink || slices.ContainsFunc(known, func(k Key) bool { return k.Env() == name }) {
			continue
		}
		w := fmt.Sprintf("unknown environment variable %s is ignored", printable(name))
		if near, ok := didyoumean.Nearest(strings.TrimPrefix(name, envPrefix), namesOf(known)); ok {
			w += ": did you mean " + Key{Name: near}.Env() + "?"
		}
		warnings = append(warnings, w)
	}
	slices.Sort(warnings)
	return warnings
}
