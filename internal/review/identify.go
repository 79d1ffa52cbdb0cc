package review

import "github.com/crdconvert/webhookd/internal/document/jsondoc"

// identify refuses an object without the names that select a converter, and with names that are
// too long.
func (c *conversion) identify(src *source) error {
	switch {
	case src.apiVersion == "" && c.isLong(src.Outline, "apiVersion"):
		return &jsondoc.PathError{Problem: tooLong + ", set it to GROUP/VERSION", Path: ".apiVersion"}
	case src.apiVersion == "":
		return &jsondoc.PathError{Problem: "object without a version, set it to GROUP/VERSION", Path: ".apiVersion"}
	case src.kind == "" && c.isLong(src.Outline, "kind"):
		return &jsondoc.PathError{Problem: tooLong + ", set it to the kind", Path: ".kind"}
	case src.kind == "":
		return &jsondoc.PathError{Problem: "object without a kind, set it", Path: ".kind"}
	}
	return c.checkMetadata(src.Outline)
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

// inMetadata returns a string member of the metadata, or "" if it is long or not a string.
func (c *conversion) inMetadata(src jsondoc.Outline, name string) string {
	at, _ := c.doc.Nested(src, name)
	literal := c.doc.Text(at)
	if len(literal) == 0 || literal[0] != '"' || jsondoc.LongerThan(literal, maxText) {
		return ""
	}
	return jsondoc.Unquote(literal)
}

// isLong reports whether a member of an object, of which str returns "", is a long string.
func (c *conversion) isLong(src jsondoc.Outline, name string) bool {
	at, _ := c.doc.Member(src, name)
	literal := c.doc.Text(at)
	return len(literal) > maxText && literal[0] == '"'
}
