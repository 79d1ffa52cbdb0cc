package config

import (
	"fmt"
	"strings"
)

// Reference returns docs/reference/configuration.md: every key in Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString(preamble)
	group := ""
	for _, k := range Keys() {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n## %s\n\n| key | flag | environment | default | meaning |\n|---|---|---|---|---|\n", group)
		}
		value := "none"
		if k.Default != "" {
			value = "`" + k.Default + "`"
		}
		if k.Local != "" {
			value += "; with self-signed `" + k.Local + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | `%s` | %s | %s |\n", k.Name, k.Name, k.Env(), value, k.meaning())
	}
	return b.String()
}

// meaning is the last column: a sentence, then what may be written.
func (k Key) meaning() string {
	s := strings.ToUpper(k.Usage[:1]) + k.Usage[1:] + "."
	switch k.Kind {
	case Choice:
		s += " One of `" + strings.Join(k.Choices, "`, `") + "`."
	case Count, Percent, Duration, Size:
		s += " From " + k.Min + " to " + k.Max + k.reason() + "."
	default:
	}
	if k.Zero != "" {
		s += " 0: " + k.Zero + "."
	}
	if k.Live {
		s += " Can change while running."
	}
	return strings.ReplaceAll(s, "|", `\|`)
}

const preamble = `# Configuration

<!-- Generated from internal/config; after a change there run: go test ./internal/config -update -->

Every setting has one name: it is the key in the file and the long flag, and in capitals, with
underscores and the prefix ` + "`WEBHOOKD_`" + `, the environment variable.

A flag that is set wins over the environment, the environment over the file, the file over the
default. ` + "`webhookd config`" + ` prints the values in effect, and where each comes from.

- **The file** is named by ` + "`--config`" + ` or ` + "`WEBHOOKD_CONFIG`" + `: YAML of at most 1 MiB, one flat mapping of
  keys to values. Unknown keys, repeated keys, anchors and aliases are errors.
- **The environment**: a variable that is set to nothing counts as set. An unknown ` + "`WEBHOOKD_`" + ` name
  is a warning in the log.
- **Durations** are numbers with units: ` + "`15s`, `2m`, `1h30m`" + `. **Sizes** are bytes as Kubernetes writes
  quantities: ` + "`128Mi`, `1Gi`, `65536`" + `.
- **Lists** are YAML lists in the file, and names with commas between them elsewhere.
- A key takes a new value from the file while running only where the table says so; the others need
  a restart.
- No key holds a secret; keys and certificates are read from the files that the settings name.
`
