package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// withoutEchoes returns the findings without those of versions with sameAs that the other version
// has as well: what cures that one cures both.
func withoutEchoes(k *binding.Kind, findings []finding.Finding) []finding.Finding {
	type statement struct {
		pos     finding.Position
		message string
	}
	said := map[statement]bool{}
	for _, f := range findings {
		said[statement{f.Pos, f.Message}] = true
	}
	for _, v := range k.Conversion.Versions {
		if v.SameAs == nil {
			continue
		}
		model := k.Conversion.Version(v.SameAs.Value)
		if model == nil {
			continue
		}
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { // it is about the model as well
			words := strings.Split(f.Message, " ")
			for i, word := range words {
				if strings.Trim(word, ":,") == v.Name {
					words[i] = strings.Replace(word, v.Name, model.Name, 1)
				}
			}
			echoed := statement{f.Pos, strings.Join(words, " ")}
			if f.Pos == v.Pos {
				echoed.pos = model.Pos
			}
			return echoed != statement{f.Pos, f.Message} && said[echoed]
		})
	}
	return findings
}
