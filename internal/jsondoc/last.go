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
	switch s.Kind() {
	case Map:
		return s.Members(func([]byte) error { return walk(s) })
	case Array:
		return s.Elements(func() error { return walk(s) })
	case Invalid, Null, Bool, Number, String:
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
	switch l.s.Kind() {
	case Map:
		return l.object()
	case Array:
		l.out = append(l.out, '[')
		first := true
		err := l.s.Elements(func() error {
			if !first {
				l.out = append(l.out, ',')
			}
			first = false
			return l.value()
		})
		l.out = append(l.out, ']')
		return err
	case Invalid, Null, Bool, Number, String:
	}
	at, err := l.s.Skip()
	l.out = append(l.out, l.s.Text(at)...)
	return err
}

// object copies all members first, and then takes out those that do not count.
func (l *laster) object() error {
	l.out = append(l.out, '{')
	start := len(l.out)
	last, members := map[string]int{}, []Span{}
	err := l.s.EveryMember(func(name []byte) error {
		last[string(name)] = len(members)
		literal := l.s.Text(l.s.nameAt)
		from := len(l.out)
		l.out = append(append(append(l.out, '"'), literal...), '"', ':')
		err := l.value()
		l.out = append(l.out, ',')
		members = append(members, span(from, len(l.out)))
		return err
	})
	if len(last) < len(members) {
		end := start
		for i, at := range members {
			if last[string(unescaped(nameIn(l.out[at.Start:at.End])))] == i {
				end += copy(l.out[end:], l.out[at.Start:at.End])
			}
		}
		l.out = l.out[:end]
	}
	if len(members) > 0 {
		l.out = l.out[:len(l.out)-1] // the last comma
	}
	l.out = append(l.out, '}')
	return err
}

// nameIn returns the literal of the name that a member's text starts with.
func nameIn(text []byte) []byte {
	s := Scanner{text: text, maxDepth: 1}
	end := s.str(0)
	return text[1 : end-1]
}
