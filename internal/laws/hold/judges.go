package hold

import (
	"bytes"
	"maps"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// identity is L5.
func (t *subject) identity() *ViolationError {
	same, err := t.convert(t.ctx, t.object, t.version, t.version)
	if err != nil || !bytes.Equal(same, t.object) {
		return t.violation(lawIdentity, t.version, "got %s (%v)", same, err)
	}
	return nil
}

// returns is L1, and L2 for an object that keeps something.
func (t *subject) returns(to string, there []byte) *ViolationError {
	// A default that only this version has is kept on the way back.
	v := t.returnsFrom(to, there, "there", t.keeps || len(t.filled) > 0)
	if v != nil || t.class == wild {
		return v
	}
	if len(t.filled) > 0 {
		return t.returnsDefaulted(to)
	}
	if !t.Stored || t.class != whole || t.foreign {
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
	if t.class == wild {
		return nil
	}
	clean := tree.Tidy
	if keeps || t.Remote != nil {
		clean = t.Visible
	}
	diff := t.compare(t.state, clean(t.refill(t.View(t.version, back))), t.version, to)
	law := lawRoundTrip
	switch {
	case diff.Path == "":
		return nil
	case t.isGain(t.version, diff.Path):
		law = lawSkew
	case t.keeps:
		law = lawEdit
	}
	return t.violation(law, to, "%s %s, back %s", name, sent, back).differs(t.version, diff)
}

// metadata is invariant I4.
func (t *subject) metadata(to string, there []byte) *ViolationError {
	was, now := metadataTexts(t.object), metadataTexts(there)
	for _, name := range tree.Names(was, now) {
		if was[name] != now[name] {
			return t.violation(lawMetadata, to, "metadata.%s is %v, was %v", name, now[name], was[name])
		}
	}
	return nil
}

// pruned is L6.
func (t *subject) pruned(to string, there map[string]any) *ViolationError {
	schema := t.Schema(to)
	if schema == nil || len(t.Gained) > 0 {
		return nil
	}
	left := tree.Copy(there)
	schema.Prune(left)
	diff := tree.Difference(there, left, "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(lawPruned, to, "the API server would remove it from %s", t.there[to]).differs(to, diff)
}

// blind is L3: kept values of other versions than the target change nothing that is visible, and
// those of third versions stay.
func (t *subject) blind(to string, there map[string]any) *ViolationError {
	if t.class != whole || t.keeps || t.refused {
		return nil
	}
	object := t.Read(t.object)
	if !tree.IsMap(object["metadata"]) {
		return nil
	}
	spec := tree.Encode(tree.WithoutIdentity(object))
	const third, parted = keep.Prefix + "v99", keep.Prefix + "v99.spec.a"
	tree.Annotate(object, map[string]string{
		keep.Prefix + t.version: string(spec), keep.Prefix + t.version + ".spec": `{"value":` + string(spec) + `}`,
		keep.Prefix + to: `{"spec":`, keep.Prefix + to + ".spec": `{"value":`,
		third: `{"spec":{"a":"<b>"}}`, parted: `{"value":"<b>"}`,
	})
	laden := tree.Encode(object)
	result, err := t.convert(t.ctx, laden, t.version, to)
	if err != nil {
		return t.fails(to, err, "with kept values: %v: %s", err, laden)
	}
	seen := t.Read(result)
	if kept := tree.Kept(seen, "v99"); kept[third] != `{"spec":{"a":"<b>"}}` || kept[parted] != `{"value":"<b>"}` {
		return t.violation(lawVisible, to, "kept values of another version are lost or changed: %s: from %s", result, laden)
	}
	diff := tree.Difference(tree.Visible(there), tree.Visible(seen), "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(lawVisible, to, "without kept values %s, with them %s", t.there[to], result).differs(to, diff)
}

// overHub is L4.
func (t *subject) overHub(to string, there map[string]any) *ViolationError {
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
	if diff := tree.Difference(tree.Tidy(t.Read(over)), tree.Tidy(there), ""); diff.Path != "" {
		return t.violation(lawHub, to, "in one step %s, hub %s, from there %s", t.there[to], first, over).differs(to, diff)
	}
	if !maps.Equal(tree.Kept(t.Read(first), t.version), tree.Kept(t.Read(over), t.version)) {
		return t.violation(lawHub, to, "the kept values of %s are not those of the hub: %s, from there %s", t.version, first, over)
	}
	return nil
}

// like compares the result with that of the kind that the suite's is to be like. A zero value of a
// Go type and an absent field are different answers.
func (t *subject) like(to string, there []byte) *ViolationError {
	if t.answers == nil || t.class != whole || t.keeps {
		return nil
	}
	theirs, err := t.withUID(t.object, func(object []byte) ([]byte, error) { return t.answers.Convert(t.ctx, object, t.version, to) })
	if err != nil {
		return nil //nolint:nilerr // there is nothing to be like
	}
	diff := tree.Difference(t.answer(to, theirs), t.answer(to, there), "")
	if diff.Path == "" {
		return nil
	}
	return t.violation(lawLike, to, "want %s, got %s", theirs, there).differs(to, diff)
}

// answer returns what counts of a result for the law [subject.like]. Where something is dropped,
// the objects around it do not count if they have nothing else.
func (t *subject) answer(to string, there []byte) map[string]any {
	answer := t.Undropped(tree.Visible(t.View(to, there)), to, t.version)
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
