package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// fromEnv reads the variables of environ ("NAME=value", as os.Environ returns them) that are
// ours. A variable that is set to nothing counts as set. Unknown names are warnings only: what
// else is in a container's environment isn't always up to its owner.
func fromEnv(environ []string) (vars map[string]string, l layer, problems []*Error, warnings []string) {
	vars = map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, envPrefix) {
			vars[name] = value
		}
	}
	l = layer{}
	for _, k := range Keys() {
		text, ok := vars[k.Env()]
		if !ok {
			continue
		}
		problems = append(problems, l.addText(k, Origin{Source: FromEnv, Name: k.Env()}, text)...)
	}
	return vars, l, problems, unknownVars(vars)
}

// addText is add for a source that writes a list in one text.
func (l layer) addText(k Key, o Origin, text string) []*Error {
	if k.Kind != Names {
		return l.add(k, entry{value: text, origin: o})
	}
	names, err := splitNames(text)
	if err != nil {
		return []*Error{{Key: k.Name, Origin: o, Text: err.Error()}}
	}
	return l.add(k, entry{value: names, origin: o})
}

// serviceLink matches the variables that the kubelet sets for a Service called webhookd, or
// webhookd-something, in the same namespace (EnableServiceLinks of a PodSpec).
var serviceLink = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)

func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

func unknownVars(vars map[string]string) []string {
	known := append(Keys(), fileKey())
	var warnings []string
	for name, value := range vars {
		named := func(k Key) bool { return k.Env() == name }
		if slices.ContainsFunc(known, named) || isServiceLink(name, value) {
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
