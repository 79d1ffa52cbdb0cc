package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// tellStashes says what the conversions of all documents kept in annotations.
func (p *program) tellStashes(inputs, results []input) {
	for i := range inputs {
		for j := range inputs[i].documents {
			p.tellStash(inputs[i].describe(j), inputs[i].documents[j], results[i].documents[j])
		}
	}
}

// tellStash says it of one document, or of each item of a List.
func (p *program) tellStash(name string, before, after []byte) {
	type object struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
		Metadata   struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	var was, is object
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return // another object's fields: nothing of ours
	}
	if len(was.Items) > 0 && len(was.Items) == len(is.Items) {
		for i := range was.Items {
			p.tellStash(fmt.Sprintf("%s: items[%d]", name, i), was.Items[i], is.Items[i])
		}
		return
	}
	if was.APIVersion == is.APIVersion {
		return
	}
	_, version, _ := strings.Cut(was.APIVersion, "/")
	annotation := converters.StashAnnotation(version)
	text, found := is.Metadata.Annotations[annotation]
	if !found {
		fmt.Fprintf(p.stderr, "webhookd: %s: %s -> %s: nothing had to be kept\n", name, was.APIVersion, is.APIVersion)
		return
	}
	for _, line := range stashLines("", []byte(text)) {
		fmt.Fprintf(p.stderr, "webhookd: %s: kept in %s: %s\n", name, annotation, line)
	}
}

// stashLines writes what is in a stash, or in a part of one: a line for each value. See package rules for its form.
func stashLines(path string, text []byte) []string {
	if bytes.Equal(text, []byte("null")) {
		return []string{path + " was absent"}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || len(members) == 0 && path != "" {
		return []string{path + " = " + string(text)}
	}
	lines := make([]string, 0, len(members))
	if _, whole := members[""]; whole && path == "" {
		delete(members, "")
		lines = append(lines, "the whole object, which returns unless somebody edits it")
	} else if value, exact := members[""]; exact {
		delete(members, "")
		if len(members) == 0 || bytes.Equal(members["unchecked"], []byte("true")) || bytes.HasPrefix(members["as"], []byte(`"`)) {
			return []string{path + " = " + string(value)}
		}
		if bytes.Equal(value, []byte("null")) {
			lines = append(lines, path+" was absent")
		}
	}
	delete(members, "[]") // which elements those are
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := path + name // of an element: [name=x] or [0]
		if !strings.HasPrefix(name, "[") {
			at = path + jsondoc.FormatPath(name)
		}
		lines = append(lines, stashLines(at, members[name])...)
	}
	return lines
}
