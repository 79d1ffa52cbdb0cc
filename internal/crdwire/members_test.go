package crdwire

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestScalarsAreStringsToEveryReader(t *testing.T) {
	t.Parallel()
	for text, plain := range map[string]bool{
		"webhookd": true, "/crdconvert": true, "/": true, "v1": true, "https://a.example:8443/x-y": true, "LS0tLS1CRUdJTi+/==": true,
		"": false, "on": false, "No": false, "y": false, "null": false, "123": false, "1e3": false, "0x1": false, "a: b": false, "a:": false,
		"a #b": false, "-": false, "é": false, "{a": false, "~": false, ".5": false,
	} {
		got := scalar(text)
		if strings.HasPrefix(got, `"`) == plain {
			t.Errorf("%q is written %s", text, got)
		}
		var n yaml.Node
		if err := yaml.Unmarshal([]byte("a: "+got+" # b\n"), &n); err != nil || n.Content[0].Content[1].Value != text || n.Content[0].Content[1].ShortTag() != "!!str" {
			t.Errorf("%q is written %s: %v", text, got, err)
		}
	}
}
