//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package conversion_test

import (
	"strings"
	"testing"
)

func TestHubSpokeLaws(t *testing.T) {
	t.Parallel()
	crd := strings.NewReplacer( // what the Go types read
		"wait: {", `wait: {pattern: "^[1-9]h0m0s$", `, "memory: {", `memory: {pattern: "^[1-9]Mi$", anyOf: [{type: integer}, {type: string}], `,
	).Replace(string(typedCRD()))
	holdLaws(t, typedKind(toHub), []byte(crd),
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":{"name":"n","pause":true,"weight":1.10,`+
			`"items":[{"name":"a","size":1},{"name":"b"}],"box":{"width":1},"old":"x","oldPtr":true,`+
			`"oldList":[{"name":"c","size":7}],"oldBox":{"width":2},"ratio":0.5,"dropped":"d"}}`),
		[]byte(`{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a","labels":{"b":"c"}},"spec":{"name":"n","pause":true,"weight":1.10,`+
			`"items":[{"name":"a","size":1},{"name":"b"}],"box":{"width":1},"new":"x","newPtr":true,`+
			`"newList":[{"name":"c","size":7}],"newBox":{"width":2},"share":0.5,"hubOnly":"h"}}`),
	)
}
