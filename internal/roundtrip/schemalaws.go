package roundtrip

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/converters"
)

// returns is L1, and L2 for an object that has a stash.
func (t *trial) returns(to string, there []byte) *ViolationError {
	if v := t.returnsFrom(to, there, "there", t.stashed); v != nil || !t.Stored || t.class != whole || t.foreign {
		return v
	}
	sent, stored := decoded(there), t.view(to, there)
	if equal(sent, stored) && !respelt(there) {
		return nil
	}
	// A default that only this version has is kept on the way back.
	return t.returnsFrom(to, encode(stored), "stored there", true)
}

// returnsFrom is returns for what is sent the way back, and what that is called. Kept says that a stash may come back.
func (t *trial) returnsFrom(to string, sent []byte, name string, kept bool) *ViolationError {
	back, err := t.convert(sent, to, t.from)
	if err != nil {
		return t.violation(lawTotal, to, "the way back: %v: %s", err, sent)
	}
	if t.class == wild {
		return nil
	}
	law, clean := lawRoundTrip, tidy
	if t.stashed {
		law = lawEdit
	}
	if kept {
		clean = visible
	}
	was, is := t.state, clean(t.view(t.from, back))
	diff := difference(was, is, "")
	if diff.path == "" {
		return nil
	}
	if drops := t.drops[direction{t.from, to}]; len(drops) > 0 {
		was = copied(was)
		for _, p := range drops {
			p.remove(was)
			p.remove(is)
		}
		if diff = difference(was, is, ""); diff.path == "" {
			return nil
		}
	}
	return t.differs(law, to, diff, "%s %s, back %s", name, sent, back)
}

// pruned is L6.
func (t *trial) pruned(to string, there map[string]any) *ViolationError {
	kept := copied(there)
	t.schemaOf(to).Prune(kept)
	diff := difference(there, kept, "")
	if diff.path == "" {
		return nil
	}
	return t.differs(lawPruned, to, diff, "the API server would remove it from %s", t.there[to])
}

// complete is what [Suite.Complete] says.
func (t *trial) complete(to string, there map[string]any) *ViolationError {
	if !t.Complete || t.class != whole {
		return nil
	}
	result := copied(there)
	t.schemaOf(to).Default(result)
	for _, problem := range t.schemaOf(to).Validate(result) {
		switch problem.Type {
		case field.ErrorTypeRequired, field.ErrorTypeTypeInvalid, field.ErrorTypeNotSupported:
			return t.violation(lawComplete, to, "%v: %s", problem, t.there[to])
		default:
		}
	}
	return nil
}

// blind is L3: stashes that are not for the target make no difference to what is visible, and those of third versions stay.
func (t *trial) blind(to string, there map[string]any) *ViolationError {
	if t.class != whole || t.stashed {
		return nil
	}
	object := decoded(t.object)
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil
	}
	third := converters.StashAnnotation("v0third")
	stale := map[string]any{}
	for name, v := range object {
		if name != "metadata" && name != "apiVersion" && name != "kind" {
			stale[name] = v
		}
	}
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations[converters.StashAnnotation(t.from)] = string(encode(stale))
	annotations[converters.StashAnnotation(to)] = `{"spec":`
	annotations[third] = `{"spec":{"a":"<b>"}}`
	laden := encode(object)
	result, err := t.convert(laden, t.from, to)
	if err != nil {
		return t.violation(lawTotal, to, "with stashes: %v: %s", err, laden)
	}
	seen := decoded(result)
	if stashes(seen)[third] != annotations[third] {
		return t.violation(lawVisible, to, "the stash of another version is lost or changed: %s: from %s", result, laden)
	}
	diff := difference(visible(there), visible(seen), "")
	if diff.path == "" {
		return nil
	}
	return t.differs(lawVisible, to, diff, "without stashes %s, with stashes %s", t.there[to], result)
}

// overHub is L4.
func (t *trial) overHub(to string, there map[string]any) *ViolationError {
	hub := t.kind.Hub
	if t.from == hub || to == hub {
		return nil
	}
	first, err := t.convert(t.object, t.from, hub)
	if err != nil {
		return t.violation(lawTotal, hub, "%v", err)
	}
	over, err := t.convert(first, hub, to)
	if err != nil {
		return t.violation(lawTotal, to, "from the hub: %v: %s", err, first)
	}
	if diff := difference(tidy(decoded(over)), tidy(there), ""); diff.path != "" {
		return t.differs(lawHub, to, diff, "in one step %s, hub %s, from there %s", t.there[to], first, over)
	}
	own := converters.StashAnnotation(t.from)
	if was, is := stashes(decoded(first))[own], stashes(decoded(over))[own]; was != is {
		return t.violation(lawHub, to, "the stash of %s is not what it was at the hub: %s, from there %s", t.from, first, over)
	}
	return nil
}

// differs makes a violation of two objects that differ.
func (t *trial) differs(law, to string, diff gap, format string, args ...any) *ViolationError {
	v := t.violation(law, to, "%s differs: "+format, append([]any{diff.path}, args...)...)
	v.Path = diff.path
	if diff.inA {
		v.Was = string(encode(diff.a))
	}
	if diff.inB {
		v.Is = string(encode(diff.b))
	}
	return v
}
