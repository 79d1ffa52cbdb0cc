package exec

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// The elements of a list that has no keys are known by what the other version sees of them: a stash that names them by index has
// a digest of each as well, {"[]": "1a2b 3c4d", "[0]": ...}. So they are found where somebody has put them. The API server may
// fill in what the other version has defaults for; an element that has such fields has a second digest, without them: "1a2b/5e6f".

const (
	knownBy = "[]"
	// maxKnown bounds of how many elements a stash has digests: a list that is longer goes by the indexes alone.
	maxKnown = 512
)

// knownAs returns the digests of elements as a stash has them, or nil where there is no room for them. The place is that of their
// counterparts.
func (r *run) knownAs(list []entry, s binding.Place) []byte {
	if r.terse || len(list) > maxKnown {
		return nil
	}
	all, bare := r.digests(list, binding.Place{}), r.digests(list, s)
	for i := range all {
		if all[i] != bare[i] {
			all[i] += "/" + bare[i]
		}
	}
	return jsondoc.StringValue(strings.Join(all, " ")).Text()
}

// digests returns those of elements, without what a schema has a default for.
func (r *run) digests(list []entry, s binding.Place) []string {
	digests := make([]string, len(list))
	for i, e := range list {
		digests[i] = strconv.FormatUint(uint64(r.digest(e.value, s)), 36)
	}
	return digests
}

// digest is the same for values that are equal. An object with a repeated name, which is not looked into elsewhere, is its text.
func (r *run) digest(n *jsondoc.Node, s binding.Place) uint32 {
	switch n.Kind() {
	case jsondoc.Map:
		err := r.err
		all := r.entries(n)
		if r.err != nil {
			r.err = err
			break
		}
		sum := uint32(0) // whatever the order
		for _, e := range all {
			of := s.Member(e.name)
			if _, filled := of.Node.Default(); !filled {
				sum += hashed(e.name, strconv.FormatUint(uint64(r.digest(e.value, of)), 36))
			}
		}
		return hashed("{", strconv.FormatUint(uint64(sum), 36))
	case jsondoc.Array:
		return hashed("[", strings.Join(r.digests(r.entries(n), s.Items()), " "))
	case jsondoc.String:
		text, _ := n.Str()
		return hashed(`"`, text)
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number:
	}
	return hashed(string(n.Text()))
}

func hashed(parts ...string) uint32 {
	h := fnv.New32a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum32()
}

// moved returns where each of some elements is in an edited list, or -1: those that are the same, in their order or elsewhere, and
// between these the others where there are as many.
func moved(was, now []string) []int {
	at, from := slices.Repeat([]int{-1}, len(was)), slices.Repeat([]int{-1}, len(now))
	join := func(i, j int) { at[i], from[j] = j, i }
	inOrder := sameElements(was, now)
	for _, pair := range inOrder {
		join(pair[0], pair[1])
	}
	free := map[string][]int{}
	for j, text := range now {
		if from[j] < 0 {
			free[text] = append(free[text], j)
		}
	}
	for i, text := range was {
		if places := free[text]; at[i] < 0 && len(places) > 0 {
			join(i, places[0])
			free[text] = places[1:]
		}
	}
	i, j := 0, 0
	for _, pair := range append(inOrder, [2]int{len(was), len(now)}) {
		a, b := left(at, i, pair[0]), left(from, j, pair[1])
		if len(a) == len(b) {
			for k := range a {
				join(a[k], b[k])
			}
		}
		i, j = pair[0]+1, pair[1]+1
	}
	return at
}

// left returns which of the places from i to end are -1.
func left(places []int, i, end int) []int {
	var list []int
	for ; i < end; i++ {
		if places[i] < 0 {
			list = append(list, i)
		}
	}
	return list
}

// found returns where the elements that a stash names by index are now, or nil if it does not say.
func (d *reader) found(stash *jsondoc.Node, now []entry, s binding.Place) []int {
	text, ok := d.r.member(stash, knownBy).Str()
	if !ok || len(now) > maxKnown {
		return nil
	}
	was := strings.Fields(text)
	if len(was) > maxKnown {
		return nil
	}
	is, bare := d.r.digests(now, binding.Place{}), d.r.digests(now, s)
	has := map[string]bool{}
	for _, digest := range is {
		has[digest] = true
	}
	had, same := map[string]bool{}, false
	for i, digests := range was {
		all, rest, two := strings.Cut(digests, "/")
		if was[i] = all; !two {
			rest = all
		}
		if had[all] = true; !has[all] {
			was[i] = "/" + rest
		}
	}
	for i, digest := range is {
		if !had[digest] {
			is[i] = "/" + bare[i]
		}
		same = same || slices.Contains(was, is[i])
	}
	if !same {
		return nil // all are edited
	}
	return moved(was, is)
}
