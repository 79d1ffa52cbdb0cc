package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// withoutEchoes returns the findings without those of versions with sameAs that the other version
// has as well: what cures that one cures both.
func withoutEchoes(k *binding.Kind, findings []finding.Finding) []finding.Finding {
	said := map[statement]bool{}
	for _, f := range findings {
		said[statementOf(f)] = true
	}
	for _, v := range k.Conversion.Versions {
		if v.SameAs == nil {
			continue
		}
		model := k.Conversion.Version(v.SameAs.Value)
		if model == nil {
			continue
		}
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool {
			echoed := statementAbout(f, v, model)
			return echoed != statementOf(f) && said[echoed]
		})
	}
	return findings
}

// A statement is what a finding says, and where.
type statement struct {
	pos     finding.Position
	message string
}

func statementOf(f finding.Finding) statement { return statement{f.Pos, f.Message} }

// statementAbout returns what a finding about a version would be if it were about another version.
func statementAbout(f finding.Finding, v, other *syntax.Version) statement {
	words := strings.Split(f.Message, " ")
	for i, word := range words {
		if strings.Trim(word, ":,") == v.Name {
			words[i] = strings.Replace(word, v.Name, other.Name, 1)
		}
	}
	about := statement{f.Pos, strings.Join(words, " ")}
	if f.Pos == v.Pos {
		about.pos = other.Pos
	}
	return about
}
