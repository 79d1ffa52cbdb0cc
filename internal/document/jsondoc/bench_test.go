package jsondoc_test

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

type body struct {
	name string
	text []byte
}

// bodies are the workloads of bench/results/serve.txt.
func bodies() []body {
	return []body{
		{"1x0.4KB", reviewtest.Body(1, 400)},
		{"500x4.3KB", reviewtest.Body(500, 4300)},
		{"1x1MB", reviewtest.Body(1, 1<<20)},
	}
}

// BenchmarkScan validates whole requests, with jsondoc and with other libraries.
func BenchmarkScan(b *testing.B) {
	for _, body := range bodies() {
		scanners := []struct {
			name string
			scan func() bool
		}{
			{"jsondoc", func() bool { return scan(body.text, jsondoc.MaxDepth) == nil }},
			{"encoding-json", func() bool { return json.Valid(body.text) }},
			{"jsontext", func() bool { return jsontext.Value(body.text).IsValid(allowDuplicates()) }},
		}
		for _, scanner := range scanners {
			b.Run(body.name+"/"+scanner.name, func(b *testing.B) {
				b.SetBytes(int64(len(body.text)))
				b.ReportAllocs()
				for b.Loop() {
					if !scanner.scan() {
						b.Fatal("the body is not valid")
					}
				}
			})
		}
	}
}

// outlineObjects reads a review as package review does, and returns the outlines of its objects.
func outlineObjects(d *jsondoc.Document, text []byte, outlines []jsondoc.Outline) ([]jsondoc.Outline, error) {
	d.Reset(text)
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	return outlines, s.Members(func(name []byte) error {
		if string(name) != "request" {
			_, err := s.Skip()
			return err
		}
		return s.Members(func(name []byte) error {
			if string(name) != "objects" {
				_, err := s.Skip()
				return err
			}
			return s.Elements(func() error {
				o, err := d.Outline(&s, "metadata", nil)
				outlines = append(outlines, o)
				return err
			})
		})
	})
}

// BenchmarkEdit opens each object of a review and makes the edits of a small converter: the
// version, and one field split into two.
func BenchmarkEdit(b *testing.B) {
	host, port, version := jsondoc.StringValue("host.example.com"), jsondoc.StringValue("8080"), jsondoc.StringValue(reviewtest.To)
	for _, body := range bodies() {
		b.Run(body.name, func(b *testing.B) {
			var d jsondoc.Document
			var out jsondoc.Output
			outlines, err := outlineObjects(&d, body.text, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body.text)))
			b.ReportAllocs()
			for b.Loop() {
				out.Reset(&d)
				for _, o := range outlines {
					obj := d.Open(o)
					for _, err := range []error{
						obj.Remove("spec", "hostPort"), obj.Set(host, "spec", "host"), obj.Set(port, "spec", "port"),
						obj.Set(version, "apiVersion"),
					} {
						if err != nil {
							b.Fatal(err)
						}
					}
					out.Put(obj.Node)
				}
				if out.Len() < len(body.text)/2 {
					b.Fatal("the output is too short")
				}
				outlines, err = outlineObjects(&d, body.text, outlines[:0]) // so that edits do not reach 2 GiB
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
