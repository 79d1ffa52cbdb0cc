package finding

import (
	"io"
	"net/url"
	"strings"
)

// The part of SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif) that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

func renderSARIF(w io.Writer, findings []Finding, _ map[string][]byte) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, 0, len(findings))}
	run.Tool.Driver = sarifDriver{
		Name: "webhookd", InformationURI: "https://github.com/crdconvert/webhookd", Rules: []sarifRule{},
	}
	index := map[string]int{}
	for _, f := range findings {
		at, ok := index[f.Code]
		if !ok {
			at = len(run.Tool.Driver.Rules)
			index[f.Code] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: f.Code})
		}
		run.Results = append(run.Results, sarifOf(f, at))
	}
	return encodeJSON(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifOf(f Finding, rule int) sarifResult {
	result := sarifResult{RuleID: f.Code, RuleIndex: rule, Level: string(f.severity()), Message: sarifMessage{Text: f.Text()}}
	if f.Hint != "" {
		result.Message.Text += " (hint: " + f.Hint + ")"
	}
	if f.Pos.File == "" {
		return result
	}
	var at sarifLocation
	at.Physical.Artifact.URI = (&url.URL{Path: strings.ReplaceAll(f.Pos.File, `\`, "/")}).String()
	if f.Pos.Line > 0 {
		region := &sarifRegion{StartLine: f.Pos.Line, StartColumn: f.Pos.Column}
		if f.EndColumn > f.Pos.Column {
			region.EndColumn = f.EndColumn
		}
		at.Physical.Region = region
	}
	result.Locations = []sarifLocation{at}
	return result
}
