package finding

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
)

type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func renderJUnit(w *bytes.Buffer, findings []Finding, sources map[string][]byte) error {
	suite := junitSuite{Name: "webhookd check"}
	for _, f := range findings {
		suite.Cases = append(suite.Cases, junitOf(f))
		if f.IsError() {
			suite.Failures++
		}
	}
	for name := range sources {
		if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Pos.File == name }) {
			suite.Cases = append(suite.Cases, junitCase{Name: "clean", Class: name, File: name})
		}
	}
	slices.SortStableFunc(suite.Cases, func(a, b junitCase) int { return strings.Compare(a.File, b.File) })
	suite.Tests = len(suite.Cases)
	w.WriteString(xml.Header)
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	err := enc.Encode(junitSuites{Suite: suite})
	w.WriteByte('\n')
	return err
}

func junitOf(f Finding) junitCase {
	text := f.String()
	if f.Hint != "" {
		text += "\nhint: " + f.Hint
	}
	result := junitCase{Name: f.Code, Class: f.Pos.File, File: f.Pos.File, Line: f.Pos.Line}
	if f.IsError() {
		result.Failure = &junitFailure{Type: f.Code, Message: f.Text(), Text: text}
	} else {
		result.Output = text
	}
	return result
}
