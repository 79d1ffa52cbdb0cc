package review

import "github.com/crdconvert/webhookd/internal/document/jsondoc"

// identify returns the names that select a converter. It refuses names that are too long.
func (c *conversion) identify(src jsondoc.Outline) (apiVersion, kind string, err error) {
	apiVersion = c.str(src, "apiVersion", &c.memos.apiVersion)
	kind = c.str(src, "kind", &c.memos.kind)
	switch {
	case apiVersion == "" && c.isLong(src, "apiVersion"):
		err = &jsondoc.PathError{Problem: tooLong + ", set it to GROUP/VERSION", Path: ".apiVersion"}
	case apiVersion == "":
		err = &jsondoc.PathError{Problem: "object without a version, set it to GROUP/VERSION", Path: ".apiVersion"}
	case kind == "" && c.isLong(src, "kind"):
		err = &jsondoc.PathError{Problem: tooLong + ", set it to the kind", Path: ".kind"}
	case kind == "":
		err = &jsondoc.PathError{Problem: "object without a kind, set it", Path: ".kind"}
	default:
		err = c.checkMetadata(src)
	}
	return apiVersion, kind, err
}

// checkMetadata refuses long strings in metadata. It ignores those in labels and annotations.
func (c *conversion) checkMetadata(src jsondoc.Outline) (err error) {
	c.doc.EachNested(src, func(name []byte, at jsondoc.Span) bool {
		if at.End-at.Start <= maxText { // most of them, so their text is not read
			return true
		}
		if literal := c.doc.Text(at); literal[0] == '"' && jsondoc.LongerThan(literal, maxText) {
			member := jsondoc.Unquote([]byte(`"` + string(name) + `"`))
			err = &jsondoc.PathError{Problem: tooLong + ", shorten it", Path: jsondoc.FormatPath("metadata", clip(member, maxName))}
		}
		return err == nil
	})
	return err
}

// str returns a string member of an object, or "" if it is long or not a string.
func (c *conversion) str(src jsondoc.Outline, name string, m *memo) string {
	at, _ := c.doc.Member(src, name)
	return c.unquote(at, m)
}

// inMetadata is str for a member of the metadata.
func (c *conversion) inMetadata(src jsondoc.Outline, name string) string {
	at, _ := c.doc.Nested(src, name)
	return c.unquote(at, &memo{})
}

func (c *conversion) unquote(at jsondoc.Span, m *memo) string {
	literal := c.doc.Text(at)
	if len(literal) == 0 || literal[0] != '"' || jsondoc.LongerThan(literal, maxText) {
		return ""
	}
	return m.unquote(literal)
}

// isLong reports whether a member of an object, of which str returns "", is a long string.
func (c *conversion) isLong(src jsondoc.Outline, name string) bool {
	at, _ := c.doc.Member(src, name)
	literal := c.doc.Text(at)
	return len(literal) > maxText && literal[0] == '"'
}
