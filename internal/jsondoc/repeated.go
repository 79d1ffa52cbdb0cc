package jsondoc

// Of members of one name, the last one counts: below the top of an object and its metadata, where they are no error. So
// kube-apiserver reads them (sigs.k8s.io/json), and so does whatever looks into an object here. An object keeps the others in
// its text until an edit changes one of its members.

// LastOfEach returns text, which must be one valid JSON value, without the members that do not count; the same text if there
// are none.
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

// walk goes through all objects of a text until a name is repeated.
func walk(s *Scanner) error {
	if opening := s.at(s.pos); opening == '{' || opening == '[' {
		return s.each(opening, true, func([]byte) error { return walk(s) })
	}
	_, err := s.Skip()
	return err
}

// A laster copies the text of a scanner but for what does not count.
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
	// All members are copied first, and then those are taken out that do not count.
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
