package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// tellStashes says what the conversions of all documents kept in annotations, and what they dropped.
func (p *program) tellStashes(ctx context.Context, inputs, results []input, drops *dropTeller) error {
	for i := range inputs {
		for j := range inputs[i].documents {
			name := inputs[i].describe(j)
			if err := p.tellStash(ctx, name, inputs[i].documents[j], results[i].documents[j], drops); err != nil {
				return fmt.Errorf("cannot tell what was dropped: %s: %w", name, err)
			}
		}
	}
	return nil
}

// tellStash says it of one document, or of each item of a List.
func (p *program) tellStash(ctx context.Context, name string, before, after []byte, drops *dropTeller) error {
	type object struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
		Metadata   struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	var was, is object
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		return nil //nolint:nilerr // another object's fields: nothing of ours
	}
	if len(was.Items) > 0 && len(was.Items) == len(is.Items) {
		for i := range was.Items {
			if err := p.tellStash(ctx, fmt.Sprintf("%s: items[%d]", name, i), was.Items[i], is.Items[i], drops); err != nil {
				return err
			}
		}
		return nil
	}
	if was.APIVersion == is.APIVersion {
		return nil
	}
	_, version, _ := strings.Cut(was.APIVersion, "/")
	annotation := converters.StashAnnotation(version)
	text, found := is.Metadata.Annotations[annotation]
	if !found {
		fmt.Fprintf(p.stderr, "webhookd: %s: %s -> %s: nothing had to be kept\n", name, was.APIVersion, is.APIVersion)
	} else {
		for _, line := range stashLines("", []byte(text)) {
			fmt.Fprintf(p.stderr, "webhookd: %s: kept in %s: %s\n", name, annotation, line)
		}
	}
	if keepsWhole([]byte(text)) {
		return nil // with what rules drop
	}
	_, to, _ := strings.Cut(is.APIVersion, "/")
	return drops.tell(ctx, p, name, before, to)
}

// keepsWhole reports whether a stash has the whole object.
func keepsWhole(text []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	_, whole := members[""]
	return whole
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
