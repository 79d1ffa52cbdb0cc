package jsondoc

// AllMembers reports whether text, which is JSON, is an object without a repeated name for each member of which fits is true. Name
// and value are good until fits returns.
func AllMembers(text []byte, fits func(name, value []byte) bool) bool {
	s, err := NewScanner(text, MaxDepth)
	all := err == nil
	if all {
		err = s.Members(func(name []byte) error {
			at, err := s.Skip()
			all = all && err == nil && fits(name, s.Text(at))
			return err
		})
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
