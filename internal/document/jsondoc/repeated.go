package jsondoc

// The last member of a name counts where duplicates are not an error, below the top of an object
// and its metadata. Kube-apiserver (sigs.k8s.io/json) reads them so, and so does this package. The
// others stay in the text until an edit changes a member of their object.

// LastOfEach returns valid JSON with only the last member of each name: text itself if it has no
// duplicates.
func LastOfEach(text []byte) []byte {
	s, err := NewScanner(text, MaxDepth)
	if err != nil || !IsRepeated(walk(&s)) {
		return text
	}
	if s, err = NewScanner(text, MaxDepth); err != nil {
		return text
	}
	l := laster{s: &s, out: make([]byte, 0, len(text))}
	if l.value() != nil {
		return text
	}
	return l.out
}

// walk fails at the first duplicate name.
func walk(s *Scanner) error {
	if opening := s.at(s.pos); opening == '{' || opening == '[' {
		return s.each(opening, true, func([]byte) error { return walk(s) })
	}
	_, err := s.Skip()
	return err
}

// A laster copies text without the members that do not count.
type laster struct {
	s   *Scanner
	out []byte
}

func (l *laster) value() error {
	opening := l.s.at(l.s.pos)
	if opening != '{' && opening != '[' {
		at, err := l.s.Skip()
		l.out = append(l.out, l.s.Text(at)...)
		return err
	}
	// Copy all members first, then drop those that do not count.
	type copied struct {
		name string
		Span
	}
	var members []copied
	last := map[string]int{}
	l.out = append(l.out, opening)
	start := len(l.out)
	err := l.s.each(opening, false, func(name []byte) error {
		from := len(l.out)
		if opening == '{' {
			l.out = append(append(append(l.out, '"'), l.s.Text(l.s.nameAt)...), '"', ':')
		}
		err := l.value()
		if l.out = append(l.out, ','); opening == '{' {
			last[string(name)] = len(members)
			members = append(members, copied{string(name), span(from, len(l.out))})
		}
		return err
	})
	if len(last) < len(members) {
		end := start
		for i, m := range members {
			if last[m.name] == i {
				end += copy(l.out[end:], l.out[m.Start:m.End])
			}
		}
		l.out = l.out[:end]
	}
	if len(l.out) > start {
		l.out = l.out[:len(l.out)-1] // the last comma
	}
	l.out = append(l.out, opening+2) // the closing one, in ASCII
	return err
}
