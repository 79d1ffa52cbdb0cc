package crontab

import (
	"errors"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// fields are the fields that the versions do not share. A version has some of them; what else stands there is kept too.
type fields struct{ hostPort, host, port field }

// A field is what a field says: of a string its text, of anything else its JSON. The zero value is an absent field.
type field struct {
	kind jsondoc.Kind
	text string
}

func str(text string) field { return field{jsondoc.String, text} }

// isText is true of strings and, as people write ports, numbers.
func (f field) isText() bool { return f.kind == jsondoc.String || f.kind == jsondoc.Number }

// onlyNull returns the field if it is null and an absent one if it is anything else.
func (f field) onlyNull() field {
	if f.kind == jsondoc.Null {
		return f
	}
	return field{}
}

func read(obj *jsondoc.Object) (f fields, err error) {
	var problems [3]error
	f.hostPort, problems[0] = readField(obj, "hostPort")
	f.host, problems[1] = readField(obj, "host")
	f.port, problems[2] = readField(obj, "port")
	return f, errors.Join(problems[:]...)
}

func readField(obj *jsondoc.Object, name string) (field, error) {
	n, err := obj.Get(name)
	if n == nil {
		return field{}, err
	}
	if text, ok := n.Str(); ok {
		return str(text), nil
	}
	return field{n.Kind(), string(n.Text())}, nil
}

// write changes the fields of obj that differ between was and now.
func write(obj *jsondoc.Object, was, now fields) error {
	return errors.Join(
		writeField(obj, "hostPort", was.hostPort, now.hostPort),
		writeField(obj, "host", was.host, now.host),
		writeField(obj, "port", was.port, now.port),
	)
}

func writeField(obj *jsondoc.Object, name string, was, now field) error {
	switch {
	case was == now:
		return nil
	case now.kind == jsondoc.Invalid:
		return obj.Remove(name)
	case now.kind == jsondoc.String:
		return obj.Set(jsondoc.StringValue(now.text), name)
	}
	v, err := jsondoc.RawValue([]byte(now.text))
	if err != nil {
		return err
	}
	return obj.Set(v, name)
}
