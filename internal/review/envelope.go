package review

import (
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// envelopeDepth is how many levels of nesting a review adds around an object: the review, its
// request, the list of objects.
const envelopeDepth = 3

// maxObjects bounds the objects of one review, and so the memory for a body of tiny ones. The API
// server sends one object; a page of a list had 500.
const maxObjects = 1 << 17

// maxText bounds identifying strings in bytes: uid, versions, kinds, and all strings in metadata
// except labels and annotations. The API server's uids have 36 bytes, and names at most 253. Longer
// ones are refused and never copied.
const maxText = 1 << 10

const tooLong = "longer than 1024 bytes" // maxText

// An envelope is a decoded ConversionReview request, with the positions of its parts in the body.
type envelope struct {
	apiVersion, kind string
	request          jsondoc.Kind
	uid              text // echoed in the answer
	desired          text // set in each converted object
	list             jsondoc.Kind
	objects          []source
	tooMany          bool // objects
	memos            struct{ kind, apiVersion, desired, ofObject, kindOfObject memo }
	registry         *converters.Registry
	fields           converters.FieldReader
}

// A text is the position of a string, and its value if that has at most maxText bytes.
type text struct {
	at    jsondoc.Span
	value string
	long  bool
}

// A source is an object to convert. With a problem it cannot be converted.
type source struct {
	jsondoc.Outline
	apiVersion, kind string // empty if they are long or not strings
	problem          string
	parts            bool // an object or list in it has been read
	searched         converters.Searched
}

// decode reads the whole body and remembers the positions of its parts. It fails only on text that
// is not valid JSON for webhookd; check and target validate the rest. Unknown fields and a response
// are ignored. Names are case-sensitive, as for the API server.
func (e *envelope) decode(doc *jsondoc.Document, body []byte, registry *converters.Registry) error {
	*e = envelope{objects: e.objects[:0], memos: e.memos, registry: registry, fields: e.fields}
	doc.Reset(body)
	s, _ := doc.Scanner(jsondoc.MaxDepth + envelopeDepth) // the first error stays
	s.LimitNames(maxText)
	if s.Kind() != jsondoc.Map {
		_, _ = s.Skip()
		return s.End() // with the first error
	}
	err := s.Members(func(name []byte) (err error) {
		switch string(name) {
		case "apiVersion":
			e.apiVersion, err = readName(s, &e.memos.apiVersion)
		case "kind":
			e.kind, err = readName(s, &e.memos.kind)
		case "request":
			err = e.decodeRequest(doc, s)
		default:
			_, err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.End()
}

func (e *envelope) decodeRequest(doc *jsondoc.Document, s *jsondoc.Scanner) error {
	e.request = s.Kind()
	if e.request != jsondoc.Map {
		_, err := s.Skip()
		return err
	}
	return s.Members(func(name []byte) (err error) {
		switch string(name) {
		case "uid":
			e.uid, err = readString(s, &memo{})
		case "desiredAPIVersion":
			e.desired, err = readString(s, &e.memos.desired)
		case "objects":
			err = e.decodeObjects(doc, s)
		default:
			_, err = s.Skip()
		}
		return err
	})
}

func (e *envelope) decodeObjects(doc *jsondoc.Document, s *jsondoc.Scanner) error {
	e.list = s.Kind()
	if e.list != jsondoc.Array {
		_, err := s.Skip()
		return err
	}
	return s.Elements(func() error {
		if len(e.objects) == maxObjects {
			e.tooMany = true
			_, err := s.Skip()
			return err
		}
		if n := len(e.objects); n > 0 && n%objectsAtOnce == 0 {
			if err := doc.Reserve(objectsAtOnce * objectSize); err != nil {
				return err
			}
		}
		object, err := e.decodeObject(doc, s)
		e.objects = append(e.objects, object)
		return err
	})
}

// decodeObject outlines the next object of the scanner. Valid JSON that is not a convertible object
// becomes that object's problem, and does not stop the decoding.
func (e *envelope) decodeObject(doc *jsondoc.Document, s *jsondoc.Scanner) (source, error) {
	if s.Kind() != jsondoc.Map {
		problem := "is " + s.Kind().String() + ", not an object"
		_, err := s.Skip()
		return source{problem: problem}, err
	}
	before := *s
	var src source
	var err error
	src.Outline, err = doc.Outline(s, "metadata", func(name []byte) error { return e.decodeMember(s, name, &src) })
	if err == nil {
		return src, nil
	}
	if _, ok := errors.AsType[*jsondoc.SyntaxError](err); !ok {
		return source{}, err
	}
	problem := err.Error()
	*s = before
	_, err = s.Skip()
	return source{problem: problem}, err
}

// decodeMember reads a member of an object. Unknown fields are found on the way, so that no text is
// read twice (L500 of make bench-serve), if desiredAPIVersion, apiVersion and kind come before the
// first object or list, as those of the API server do. Otherwise the converter searches.
func (e *envelope) decodeMember(s *jsondoc.Scanner, name []byte, src *source) (err error) {
	switch string(name) {
	case "apiVersion":
		src.apiVersion, err = readName(s, &e.memos.ofObject)
		return err
	case "kind":
		src.kind, err = readName(s, &e.memos.kindOfObject)
		return err
	}
	if kind := s.Kind(); kind != jsondoc.Map && kind != jsondoc.Array {
		_, err = s.Skip()
		return err
	}
	if !src.parts {
		group, from, _ := strings.Cut(src.apiVersion, "/")
		_, to, _ := strings.Cut(e.desired.value, "/")
		kind := e.registry.Lookup(schema.GroupKind{Group: group, Kind: src.kind})
		src.parts, src.searched = true, kind.Search(from, to)
	}
	return e.fields.Read(s, name, &src.searched)
}

// readString reads the next value. The text is empty if the value is not a string.
func readString(s *jsondoc.Scanner, m *memo) (t text, err error) {
	isString := s.Kind() == jsondoc.String
	if t.at, err = s.Skip(); err != nil || !isString {
		return t, err
	}
	literal := s.Text(t.at)
	if t.long = jsondoc.LongerThan(literal, maxText); !t.long {
		t.value = m.unquote(literal)
	}
	return t, nil
}

// readName is readString for a name; a long one cannot match and becomes "".
func readName(s *jsondoc.Scanner, m *memo) (string, error) {
	t, err := readString(s, m)
	return t.value, err
}

// A memo remembers the last string of at most maxText, because consecutive requests name the same
// versions and kinds.
type memo struct{ last string }

func (m *memo) unquote(literal []byte) string {
	if string(literal[1:len(literal)-1]) == m.last {
		return m.last
	}
	text := jsondoc.Unquote(literal)
	if strings.IndexByte(text, '\\') < 0 { // else its literal differs
		m.last = text
	}
	return text
}

// check returns why the body is not a review that can be answered; such a request gets an HTTP
// error. Every other problem is answered with a review, because the API server shows its message to
// the user.
func (e *envelope) check() error {
	switch {
	case e.kind != "ConversionReview":
		return &RequestError{"not a ConversionReview, send one: .kind"}
	case e.apiVersion != versionV1 && e.apiVersion != versionV1beta1:
		return &RequestError{"unknown review version, set conversionReviewVersions of the CRD to [v1] or [v1beta1]: .apiVersion"}
	case e.request != jsondoc.Map:
		return &RequestError{"review without a request, send a ConversionRequest: .request"}
	case e.uid.long:
		return &RequestError{tooLong + ", send the uid of the API server: .request.uid"}
	case e.uid.value == "":
		return &RequestError{"request without a uid, the answer could not be matched: .request.uid"}
	}
	return nil
}

// target splits desiredAPIVersion. The problem is empty if the request is valid.
func (e *envelope) target() (group, version, problem string) {
	group, version, _ = strings.Cut(e.desired.value, "/")
	switch {
	case e.desired.long:
		return "", "", tooLong + ", set it to GROUP/VERSION: .request.desiredAPIVersion"
	case group == "" || version == "" || strings.Contains(version, "/"):
		return "", "", "no version to convert to, set it to GROUP/VERSION: .request.desiredAPIVersion"
	case e.list != jsondoc.Array && e.list != jsondoc.Null && e.list != jsondoc.Invalid:
		return "", "", "is " + e.list.String() + ", not an array, send a list of objects: .request.objects"
	case e.tooMany:
		return "", "", "more than " + strconv.Itoa(maxObjects) + " objects, send fewer at once: .request.objects"
	}
	return group, version, ""
}
