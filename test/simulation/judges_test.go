package simulation_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Written is a write, what it was made of, and what is stored before and after it.
type written struct {
	what, name, version string
	read, next          *object // what the client saw and what it wants, at its version
	givesUp             map[string]any
	before, after       *stored
	through             *replica // that has converted next
}

func (w *written) String() string {
	return fmt.Sprintf("%s of %s at %s\nread:    %s\nwritten: %s\nstored before: %+v\nstored after:  %+v", w.what, w.name, w.version,
		jsonOf(w.read.Object), jsonOf(w.next.Object), w.before, w.after)
}

// judge holds a write to what webhookd promises. Every object is readable at every version, which
// show checks.
//
// While replicas have different rules, and where an object was ever written by others, what has a
// place by now may appear, and nothing goes missing of what is stored.
func (c *call) judge(w *written) {
	settled := c.rules() >= 0 && w.after.rules == c.rules()
	wanted := changes(visible(w.read), visible(w.next), false)
	wanted = append(wanted, changes(seen{"spec": w.givesUp}, seen{}, false)...)
	for _, version := range c.versions {
		all := []*stored{w.after}
		if w.before != nil {
			all = append(all, w.before)
		}
		shown := c.show(w.through, version, all...)
		if sent := c.watches[version]; sent != nil {
			sent[w.name] = visible(shown[0]).String()
		}
		// Nothing hidden: the client sees what it has written.
		if hidden := changes(visible(w.next), visible(shown[0]), !settled); version == w.version && c.rules() >= 0 && len(hidden) > 0 {
			c.fail("hidden: %v after %s\nshown:   %s", hidden, w, visible(shown[0]))
		}
		// Nothing lost: nothing has changed but what the client has changed.
		if w.before == nil || !settled && (w.before.version != version || w.after.version != version) {
			continue
		}
		for _, path := range changes(visible(shown[1]), visible(shown[0]), !settled) {
			if !slices.ContainsFunc(wanted, func(p string) bool { return strings.HasPrefix(path+".", p+".") || strings.HasPrefix(p, path+".") }) {
				c.fail("lost: %s at %s by %s\nbefore:  %s\nafter:   %s", path, version, w, visible(shown[1]), visible(shown[0]))
			}
		}
	}
}

// judgeGivenUp checks that values that a manager alone has owned go when it gives them up.
func (c *call) judgeGivenUp(name, manager string, last, next intent) {
	o := c.show(c.replica(), next.version, c.stored[name])[0]
	spec, _ := o.Object["spec"].(map[string]any)
	owned := map[string]bool{}
	for _, e := range o.GetManagedFields() {
		var fields map[string]map[string]any
		if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil || e.Manager == manager {
			continue
		}
		for field := range fields["f:spec"] {
			owned[atHub("spec."+strings.TrimPrefix(field, "f:"))] = true
		}
	}
	for field, value := range last.spec {
		if atHub("spec."+field) == "spec.hostPort" || c.rules() < 0 || c.stored[name].rules < 0 {
			continue // two managers may own parts of it, or other rules have kept it, too
		}
		_, applied := next.spec[field]
		_, there := spec[field]
		_, isObject := value.(map[string]any)
		_, isList := value.([]any) // who applies an empty one owns nothing
		if there && !applied && !isObject && !isList && !owned[atHub("spec."+field)] && last.version == next.version {
			c.fail("given up: %s of %s at %s is still there, which only %s has applied: %s", field, name, next.version, manager, jsonOf(o.Object))
		}
	}
}

// judgeAtRest checks what holds once nothing happens any more: a write of what there is writes
// nothing, and watchers have what readers see.
func (c *call) judgeAtRest() {
	c.wait(3*period, 4*period)
	for _, name := range slices.Sorted(maps.Keys(c.stored)) {
		version := c.versions[c.IntN(len(c.versions))]
		c.touch(name, version)
		before := c.stored[name]
		if c.touch(name, version); c.stored[name] != before && c.failure == "" {
			c.fail("written: %s at %s without a change\nbefore: %+v\nafter:  %+v", name, version, before, c.stored[name])
		}
		for version, sent := range c.watches {
			if sees := visible(c.show(c.replica(), version, c.stored[name])[0]).String(); sent[name] != sees {
				c.fail("watch: of %s at %s has\n%s, a reader sees\n%s", name, version, sent[name], sees)
			}
		}
	}
}

// changes returns where two objects differ, as the hub names the places: everywhere, or where the
// first one has something.
func changes(a, b seen, missing bool) []string {
	x, y := map[string]string{}, map[string]string{}
	leaves(map[string]any(a), "", x)
	leaves(map[string]any(b), "", y)
	found := map[string]bool{}
	for _, m := range []map[string]string{x, y} {
		for p := range m {
			if x[p] != y[p] && (x[p] != "" || !missing) {
				found[atHub(p)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// leaves collects the values in an object. An element is named as its name.
func leaves(v any, at string, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		into[at] = "is"
		for k, e := range v {
			leaves(e, strings.TrimPrefix(at+"."+k, "."), into)
		}
		return
	case []any:
		if len(v) == 0 {
			break
		}
		if _, ok := v[0].(map[string]any); !ok {
			break
		}
		into[at] = "[]"
		for _, e := range v {
			leaves(e, fmt.Sprint(at, ".", e.(map[string]any)["name"]), into) //nolint:forcetypeassert // so is the first one
		}
		return
	}
	into[at] = string(jsonOf(v))
}

// atHub returns the name that places have which belong together by the rules of any generation.
func atHub(path string) string {
	if strings.HasPrefix(path, "spec.policy") {
		return "spec.policy"
	}
	hub, ok := map[string]string{
		"spec.cronSpec": "spec.schedule", "spec.host": "spec.hostPort", "spec.port": "spec.hostPort",
		"spec.applyMode": "spec.mode", "spec.timeout": "spec.timeoutSeconds", "spec.class": "spec.policy",
	}[path]
	if ok {
		return hub
	}
	return strings.Replace(path, ".cmd", ".command", 1)
}
