package hold

import (
	"bytes"
	"maps"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

func (t *subject) identity(string) *ViolationError {
	same, err := t.convert(t.ctx, t.object, t.version, t.version)
	if err != nil || !bytes.Equal(same, t.object) {
		return t.violation(Identity, t.version, "got %s (%v)", same, err)
	}
	return nil
}

func (t *subject) total(to string) *ViolationError {
	there, err := t.convert(t.ctx, t.object, t.version, to)
	if err != nil {
		return t.fails(to, err, "%v", err)
	}
	t.results[to] = there
	return nil
}

func (t *subject) unwritten(string) *ViolationError {
	if bytes.Equal(t.source, t.object) {
		return nil
	}
	return t.violation(Source, t.version, "the converter wrote into its source text")
}

func (t *subject) repeats(to string) *ViolationError {
	again, err := t.convert(t.ctx, t.object, t.version, to)
	if err == nil && bytes.Equal(t.results[to], again) {
		return nil
	}
	return t.violation(Deterministic, to, "got %s, then %s (%v)", t.results[to], again, err)
}

func (t *subject) roundTrip(to string) *ViolationError {
	if v := t.total(to); v != nil || t.results[to] == nil {
		return v
	}
	return t.returns(to)
}

// returns is also [Edit], for an object that keeps something.
func (t *subject) returns(to string) *ViolationError {
	there := t.results[to]
	// A default that only this version has is kept on the way back.
	v := t.returnsFrom(to, there, "there", t.keeps || len(t.defaulted) > 0)
	if v != nil || t.class == classInvalid {
		return v
	}
	if len(t.defaulted) > 0 {
		return t.returnsDefaulted(to)
	}
	if !t.Stored || t.class != classValid || t.foreign {
		return nil
	}
	// The API server also changes the spelling of numbers: 1.0 is 1.
	stored := tree.Encode(t.View(to, there))
	if bytes.Equal(stored, tree.Encode(tree.Literal(there))) {
		return nil
	}
	return t.returnsFrom(to, stored, "stored there", true)
}

// returnsFrom is returns for the object that is converted back, and its name in messages. Keeps
// says that kept values may come back.
func (t *subject) returnsFrom(to string, sent []byte, name string, keeps bool) *ViolationError {
	back, err := t.convert(t.ctx, sent, to, t.version)
	if err != nil {
		return t.fails(to, err, "the way back: %v: %s", err, sent)
	}
	if t.class == classInvalid {
		return nil
	}
	clean := tree.Tidy
	if keeps || t.Remote != nil {
		clean = t.Visible
	}
	diff := t.compare(t.state, clean(t.refill(t.View(t.version, back))), t.version, to)
	law := RoundTrip
	switch {
	case diff.Path == "":
		return nil
	case t.keeps:
		law = Edit
	}
	return t.violation(law, to, "%s %s, back %s", name, sent, back).differs(t.version, diff)
}

func (t *subject) metadata(to string) *ViolationError {
	was, now := metadataTexts(t.object), metadataTexts(t.results[to])
	for _, name := range tree.Names(was, now) {
		if was[name] != now[name] {
			return t.violation(Metadata, to, "metadata.%s is %v, was %v", name, now[name], was[name])
		}
	}
	if path := generate.BadEntry(tree.Read(t.results[to])); path != "" && !t.refused && t.class != classInvalid {
		return t.violation(Metadata, to, "the API server refuses the whole answer for %s: %s", path, t.results[to])
	}
	return nil
}

func (t *subject) pruned(to string) *ViolationError { return t.prunes(to, tree.Read(t.results[to])) }

func (t *subject) prunes(to string, there map[string]any) *ViolationError {
	left := tree.Copy(there)
	t.Schema(to).Prune(left)
	diff := tree.Difference(there, left, "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(Prune, to, "the API server would remove it from %s", t.results[to]).differs(to, diff)
}

// blind is [Visible]: kept values of other versions than the target change nothing that is visible,
// and those of third versions stay.
func (t *subject) blind(to string) *ViolationError {
	object := tree.Read(t.object)
	if !tree.IsMap(object["metadata"]) {
		return nil
	}
	spec := tree.Encode(tree.WithoutIdentity(object))
	const third, parted = annotation.Prefix + "v99", annotation.Prefix + "v99.spec.a"
	tree.Annotate(object, map[string]string{
		annotation.Prefix + t.version: string(spec), annotation.Prefix + t.version + ".spec": `{"value":` + string(spec) + `}`,
		annotation.Prefix + to: `{"spec":`, annotation.Prefix + to + ".spec": `{"value":`,
		third: `{"spec":{"a":"<b>"}}`, parted: `{"value":"<b>"}`,
	})
	laden := tree.Encode(object)
	result, err := t.convert(t.ctx, laden, t.version, to)
	if err != nil {
		return t.fails(to, err, "with kept values: %v: %s", err, laden)
	}
	seen := tree.Read(result)
	if kept := tree.Kept(seen, "v99"); kept[third] != `{"spec":{"a":"<b>"}}` || kept[parted] != `{"value":"<b>"}` {
		return t.violation(Visible, to, "kept values of another version are lost or changed: %s: from %s", result, laden)
	}
	diff := tree.Difference(tree.Visible(tree.Read(t.results[to])), tree.Visible(seen), "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(Visible, to, "without kept values %s, with them %s", t.results[to], result).differs(to, diff)
}

func (t *subject) overHub(to string) *ViolationError {
	hub := t.Kind.Hub
	if t.version == hub || to == hub {
		return nil
	}
	first, err := t.convert(t.ctx, t.object, t.version, hub)
	if err != nil {
		return t.fails(hub, err, "%v", err)
	}
	over, err := t.convert(t.ctx, first, hub, to)
	if err != nil {
		return t.fails(to, err, "from the hub: %v: %s", err, first)
	}
	if diff := tree.Difference(tree.Tidy(tree.Read(over)), tree.Tidy(tree.Read(t.results[to])), ""); diff.Path != "" {
		return t.violation(Hub, to, "in one step %s, hub %s, from there %s", t.results[to], first, over).differs(to, diff)
	}
	if !maps.Equal(tree.Kept(tree.Read(first), t.version), tree.Kept(tree.Read(over), t.version)) {
		return t.violation(Hub, to, "the kept values of %s are not those of the hub: %s, from there %s", t.version, first, over)
	}
	return nil
}

// like compares the result with that of the kind that the suite's is to be like. A zero value of a
// Go type and an absent field are different answers.
func (t *subject) like(to string) *ViolationError {
	there := t.results[to]
	theirs, err := t.answers.ConvertStored(t.ctx, t.object, t.version, to)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to be like
	}
	diff := tree.Difference(t.answer(to, theirs), t.answer(to, there), "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(SameAnswer, to, "want %s, got %s", theirs, there).differs(to, diff)
}

// answer returns what counts of a result for the law [subject.like]. Where something is dropped,
// the objects around it do not count if they have nothing else.
func (t *subject) answer(to string, there []byte) map[string]any {
	answer := t.WithoutDropped(tree.Visible(t.View(to, there)), to, t.version)
	for _, path := range t.drops[direction{to, t.version}] {
		for i := len(path) - 1; i > 0; i-- {
			tree.RemoveAll(answer, path[:i], tree.IsEmptyMap)
		}
	}
	return answer
}

// metadataTexts returns the text of each member of the metadata except labels and annotations.
func metadataTexts(object []byte) map[string]any {
	texts := map[string]any{}
	if obj, err := jsondoc.ParseObject(object); err == nil {
		meta, _ := obj.Get("metadata")
		_ = meta.Each(func(name string, value *jsondoc.Node) bool {
			if name != "labels" && name != "annotations" {
				texts[name] = string(value.Text())
			}
			return true
		})
	}
	return texts
}
