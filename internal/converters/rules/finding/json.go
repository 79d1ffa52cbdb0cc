package finding

import (
	"bytes"
	"encoding/json"
)

type jsonFinding struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Severity  string `json:"severity"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
}

func renderJSON(w *bytes.Buffer, findings []Finding, _ map[string][]byte) error {
	list := make([]jsonFinding, 0, len(findings))
	for _, f := range findings {
		list = append(list, jsonFinding{
			File: f.Pos.File, Line: f.Pos.Line, Column: f.Pos.Column, EndColumn: f.EndColumn,
			Severity: string(f.severity()), Code: f.Code, Message: f.Text(), Hint: f.Hint,
		})
	}
	return encodeJSON(w, map[string]any{"findings": list})
}

func encodeJSON(w *bytes.Buffer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
