package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExplainHTMLIsOneSafePage explains rules whose reasons are markup.
func TestExplainHTMLIsOneSafePage(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "examples", "labels")
	rules := `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: projects.org.example.com}
spec:
  hub: v1
  versions:
  - name: v1alpha1
    rules:
    - {spoke: '.metadata.labels["org.example.com/team"]', hub: .spec.team}
    - {spoke: .spec.wikiPage, drop: "</td><script>alert('100%d & \"x\"')</script>"}
`
	got := runWith(t, nil, strings.NewReader(rules), "explain", "--rules", "-", "--crd", filepath.Join(folder, "crd.yaml"), "-o", "html")
	if got.Code != 0 {
		t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
	}
	for _, want := range []string{
		`<li class="mapped" title=".metadata.labels[&#34;org.example.com/team&#34;]`, "in v1: mapped to .spec.team, rule 1",
		"rule 2: &lt;/td&gt;&lt;script&gt;alert(&#39;100%d &amp; &#34;x&#34;&#39;)", `<g class="dropped">`, `<path class="mapped"`,
		`class="unmapped"`, "prefers-color-scheme: dark", "@media print",
	} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if bad := regexp.MustCompile(`(?i)<script|https?:|src=|url\(|%!`).FindString(got.Stdout); bad != "" {
		t.Errorf("the page has %q", bad)
	}
}

// TestExplainHTMLFoldsWhatIsCopied explains a kind with thousands of places.
func TestExplainHTMLFoldsWhatIsCopied(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "testdata", "kinds", "alertmanagerconfig")
	got := runWith(t, nil, strings.NewReader(""), "explain", "--rules", filepath.Join(folder, "rules.yaml"), "--crd", filepath.Join(folder, "crd.yaml"), "-o", "html")
	if rows := strings.Count(got.Stdout, "<li class=") - 5; got.Code != 0 || rows < 500 || rows > 2500 {
		t.Errorf("exit code %d, %d rows, want far fewer than the 4000 places: %s", got.Code, rows, got.Stderr)
	}
	if !strings.Contains(got.Stdout, "places below, all copied</i>") {
		t.Error("no place is folded")
	}
}
