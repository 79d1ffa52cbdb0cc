package hostile

import "strings"

// The places where a document is put.
const (
	asBody   = "as the body"
	asObject = "as an object"
	asValue  = "as the value of a field"
)

// syntaxCases puts each document into each place.
func syntaxCases() []Case {
	var cases []Case
	for _, d := range acceptedDocuments() {
		cases = append(cases, d.in("accepted/", "", "", "")...)
	}
	for _, d := range refusedDocuments() {
		cases = append(cases, d.in("refused/", notJSON, notJSON, notJSON)...)
	}
	for _, d := range unsettledDocuments() {
		own := d.in("unsettled/", d.asBody, d.asObject, d.asValue)
		for i := range own {
			own[i].Unsettled = true
		}
		cases = append(cases, own...)
	}
	return embeddedOtherwise(cases)
}

// in returns the cases of a document with the problems that it has in its places, if it has.
func (d *document) in(class, body, object, value string) []Case {
	c := func(position, text string, want Answer) Case {
		return Case{Set: Syntax, Name: class + d.name, Position: position, Request: Request{Body: fixed(text)}, Want: want}
	}
	return []Case{
		c(asBody, d.text, d.bodyAnswer(body)),
		c(asObject, review(d.text), d.objectAnswer(object)),
		c(asValue, review(holding(from, d.text)), d.valueAnswer(value)),
	}
}

func (d *document) bodyAnswer(problem string) Answer {
	if problem != "" {
		return refused(problem)
	}
	return refused("not a ConversionReview, send one: .kind")
}

func (d *document) objectAnswer(problem string) Answer {
	switch {
	case problem == "duplicate name", problem == longName: // of this object: the others can be reported
		return failed(unknown(), "objects[0]: "+problem+": byte ")
	case problem != "":
		return refused(problem)
	}
	switch d.text[len(d.text)-len(strings.TrimLeft(d.text, " \t\r\n"))] {
	case '{':
		return failed(unknown(), "objects[0]: object without a version, set it to GROUP/VERSION: .apiVersion")
	case '[':
		return notAnObject("an array")
	case '"':
		return notAnObject("a string")
	case 't', 'f':
		return notAnObject("a boolean")
	case 'n':
		return notAnObject("null")
	}
	return notAnObject("a number")
}

func notAnObject(what string) Answer {
	return failed(unknown(), "objects[0]: is "+what+", not an object: .request.objects[0]")
}

func (d *document) valueAnswer(problem string) Answer {
	if problem != "" {
		return refused(problem)
	}
	return converted(upgrade(), 1, fixed(success(holding(to, d.text))))
}

// embeddedOtherwise corrects the cases that are JSON once they are between brackets.
func embeddedOtherwise(cases []Case) []Case {
	for i := range cases {
		c := &cases[i]
		switch {
		case c.Position != asObject:
		case c.Name == "refused/nothing", c.Name == "refused/white space alone":
			c.Want = converted(none(), 0, fixed(success()))
		}
	}
	return cases
}
