package roundtrip

import (
	"sync"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// documents is memory of documents to use again, as the server does it: a run converts so often that new ones for each
// object would be half of its garbage.
type documents struct{ pool sync.Pool }

// open returns the object that text is, like [jsondoc.ParseObject]. It is good until done is called.
func (d *documents) open(text []byte) (obj *jsondoc.Object, done func(), err error) {
	doc, ok := d.pool.Get().(*jsondoc.Document)
	if !ok {
		doc = &jsondoc.Document{}
	}
	doc.Reset(text)
	scanner, err := doc.Scanner(jsondoc.MaxDepth)
	if err != nil {
		return nil, nil, err
	}
	outline, err := doc.Outline(scanner, "metadata")
	if err == nil {
		err = scanner.End()
	}
	if err != nil {
		return nil, nil, err
	}
	return doc.Open(outline), func() { doc.Reset(nil); d.pool.Put(doc) }, nil
}
