package finding

import (
	"bytes"
	"net/url"
	"strings"
)

// renderSARIF writes the part of SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif) that code scanning
// reads.
func renderSARIF(w *bytes.Buffer, findings []Finding, _ map[string][]byte) error {
	type object = map[string]any
	rules, results, index := []object{}, make([]object, 0, len(findings)), map[string]int{}
	for _, f := range findings {
		if _, known := index[f.Code]; !known {
			index[f.Code] = len(rules)
			rules = append(rules, object{"id": f.Code})
		}
		text := f.Text()
		if f.Hint != "" {
			text += " (hint: " + f.Hint + ")"
		}
		result := object{"ruleId": f.Code, "ruleIndex": index[f.Code], "level": f.severity(), "message": object{"text": text}}
		if f.Pos.File != "" {
			file := &url.URL{Path: strings.ReplaceAll(f.Pos.File, `\`, "/")}
			at := object{"artifactLocation": object{"uri": file.String()}}
			region := object{"startLine": f.Pos.Line}
			if f.Pos.Line > 0 {
				at["region"] = region
			}
			if f.Pos.Column > 0 {
				region["startColumn"] = f.Pos.Column
			}
			if f.EndColumn > f.Pos.Column {
				region["endColumn"] = f.EndColumn
			}
			result["locations"] = []object{{"physicalLocation": at}}
		}
		results = append(results, result)
	}
	driver := object{"name": "webhookd", "informationUri": "https://github.com/crdconvert/webhookd", "rules": rules}
	return encodeJSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}},
	})
}
