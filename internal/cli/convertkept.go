package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/manifest"
)

// tellKept says which values the conversions of all documents kept, and what they dropped.
func (p *program) tellKept(ctx context.Context, inputs, results []manifest.File, drops *dropTeller) error {
	for i := range inputs {
		for j := range inputs[i].Documents {
			name := inputs[i].Describe(j)
			if err := p.tellKeptOf(ctx, name, inputs[i].Documents[j], results[i].Documents[j], drops); err != nil {
				return fmt.Errorf("cannot tell what was dropped: %s: %w", name, err)
			}
		}
	}
	return nil
}

// tellKeptOf says it of one document, or of each item of a List.
func (p *program) tellKeptOf(ctx context.Context, name string, before, after []byte, drops *dropTeller) error {
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
			if err := p.tellKeptOf(ctx, fmt.Sprintf("%s: items[%d]", name, i), was.Items[i], is.Items[i], drops); err != nil {
				return err
			}
		}
		return nil
	}
	if was.APIVersion == is.APIVersion {
		return nil
	}
	lines := keptLines(was.Metadata.Annotations, is.Metadata.Annotations)
	for _, line := range lines {
		p.tell("%s: %s", name, line)
	}
	if len(lines) == 0 {
		p.tell("%s: %s -> %s: nothing had to be kept", name, was.APIVersion, is.APIVersion)
	}
	_, to, _ := strings.Cut(is.APIVersion, "/")
	return drops.tell(ctx, p, name, before, to)
}

// keptLines returns a line for each value that a conversion has kept. What the object had brought along has passed.
func keptLines(before, after map[string]string) []string {
	var all []string
	for name, text := range after {
		if was, passed := before[name]; passed && was == text {
			continue
		}
		version, lines := keep.Describe(name, text)
		for _, line := range lines {
			all = append(all, "kept from "+version+": "+line)
		}
	}
	slices.Sort(all)
	return all
}
