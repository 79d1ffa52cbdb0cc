package jsondoc

// AllMembers reports whether text, which is JSON, is an object for each member of which fits is true; of a repeated name, the
// last one counts. Name and value are good until fits returns, which may be called more than once for a member.
func AllMembers(text []byte, fits func(name, value []byte) bool) bool {
	s, err := NewScanner(text, MaxDepth)
	all := err == nil
	if all {
		err = s.Members(func(name []byte) error {
			at, err := s.Skip()
			all = err == nil && all && fits(name, s.Text(at))
			return err
		})
	}
	if IsRepeated(err) {
		return AllMembers(LastOfEach(text), fits)
	}
	return all && err == nil
}

// AllElements reports whether text, which is JSON, is an array for each element of which fits is true.
func AllElements(text []byte, fits func(value []byte) bool) bool {
	s, err := NewScanner(text, MaxDepth)
	all := err == nil
	if all {
		err = s.Elements(func() error {
			at, err := s.Skip()
			all = all && err == nil && fits(s.Text(at))
			return err
		})
	}
	return all && err == nil
}
