package hostile

import (
	"slices"
	"strings"
)

// A FileCase is files that webhookd is given, and what it says of them. No value of a file is in
// what it says, but of rules, which hold no secrets, the line that is wrong.
type FileCase struct {
	Name string
	// Args are those of webhookd; it runs where Files are.
	Args  []string
	Env   []string
	Files map[string]string
	// Code is that with which webhookd ends, and Says is part of what it prints.
	Code int
	Says string
}

// FileCases returns the cases of the set A10: files that are large or deep, or not text, or hold a
// secret. What is wrong with others is said in internal/converters/rules/check and
// internal/serve/config.
func FileCases() []FileCase {
	return slices.Concat(rules(), expressions(), crdFiles(), configurations())
}

func checked(name, rules string, code int, says string) FileCase {
	return checkedWith(name, rules, RuledCRD, code, says)
}

func checkedWith(name, rules, crd string, code int, says string) FileCase {
	return FileCase{
		Name: "rules: " + name, Args: []string{"check", "rules.yaml", "--crd", "crd.yaml"},
		Files: map[string]string{"rules.yaml": rules, "crd.yaml": crd}, Code: code, Says: says,
	}
}

// ruled returns the right file with another list of rules.
func ruled(rules ...string) string {
	head, _, _ := strings.Cut(RuledConversion, "    - {")
	return head + "    " + strings.Join(rules, "\n    ") + "\n"
}

// laughs is a document of anchors, each of which is nine of the one before.
func laughs(last string) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := '1'; i <= '9'; i++ {
		before := string(i - 1)
		b.WriteString("a" + string(i) + ": &a" + string(i) + " [" + strings.TrimSuffix(strings.Repeat("*a"+before+",", 9), ",") + "]\n")
	}
	return b.String() + last
}

func rules() []FileCase {
	utf16 := func(text string) string {
		var b strings.Builder
		b.WriteString("\xff\xfe")
		for _, c := range []byte(text) {
			b.WriteByte(c)
			b.WriteByte(0)
		}
		return b.String()
	}
	return []FileCase{
		checked("as they should be", RuledConversion, 0, "no findings in 1 file"),
		checked("a byte order mark", "\ufeff"+RuledConversion, 0, "no findings in 1 file"),
		checked("UTF-16", utf16(RuledConversion), 0, "no findings in 1 file"),
		checked("bytes that are no UTF-8", RuledConversion+"# \xff\xfe\n", 1, "not YAML: "),
		checked("a NUL", RuledConversion+"# \x00\n", 1, "not YAML: control characters are not allowed"),
		checked("a terminal escape", ruled("- {spoke: .spec.\x1b[2J, hub: .spec.amount}"), 1, "not YAML: control characters are not allowed"),
		checked("a terminal escape in an escape", ruled(`- {spoke: ".spec.\e[2J", hub: .spec.amount}`), 1, "not a name that can follow a dot"),
		checked("a program", "\x7fELF\x02\x01\x01\x00"+strings.Repeat("\x00", 100), 1, "not YAML: control characters are not allowed"),
		checked("more than 1 MiB", RuledConversion+strings.Repeat("#", 1<<20), 1, "the file is larger than 1 MiB"),
		checked("anchors that multiply", laughs(RuledConversion), 1, "anchors are not supported"),
		checked("ten thousand lists in each other", ruled("- "+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)), 1, "nested deeper than 200"),
		checked("three hundred lists in each other", ruled("- "+strings.Repeat("[", 300)+strings.Repeat("]", 300)), 1, "nested deeper than 200"),
		checked("a path of ten thousand names", ruled("- {spoke: .spec"+strings.Repeat(".a", 10_000)+", hub: .spec.amount}"), 1, ": no such field in v1"),
		checked("ten thousand rules that are wrong", ruled(strings.Repeat("- {spoke: .spec.none, hub: .spec.amount}\n    ", 10_000)), 1, "no such field in v1"),
		checked("a path out of the object", ruled("- {spoke: ../../etc/passwd, hub: .spec.amount}"), 1, ".. is not a segment"),
	}
}

func expressions() []FileCase {
	with := func(name, expression string, says string) FileCase {
		return checked("an expression "+name, ruled("- {spoke: .spec.size, hub: .spec.amount, toHub: '"+expression+"', toSpoke: self}"), 1, says)
	}
	return []FileCase{
		with("of a hundred thousand brackets", strings.Repeat("(", 100_000)+"self"+strings.Repeat(")", 100_000), "size exceeds limit"),
		with("of half a megabyte", "self"+strings.Repeat(" + self", 70_000), "size exceeds limit"),
		with("with a regular expression that is none", `self.matches("(")`, "invalid matches argument"),
		with("with a repetition of repetitions", `self.matches("((a{1,1000}){1,1000}){1,1000}")`, "invalid matches argument"),
		with("that asks for the environment", "os.environ", "undeclared reference"),
	}
}

func crdFiles() []FileCase {
	crd := func(name, crd, says string) FileCase { return checkedWith("CRD "+name, RuledConversion, crd, 1, says) }
	nested := func(levels int) string {
		deep := strings.Repeat("{type: object, properties: {a: ", levels) + "{type: string}" + strings.Repeat("}}", levels)
		return strings.Replace(RuledCRD, "size:\n                x-kubernetes-preserve-unknown-fields: true", "size: "+deep, 1)
	}
	return []FileCase{
		crd("of anchors that multiply", laughs(RuledCRD), "aliases make this document too large"),
		crd("with a reference", strings.Replace(RuledCRD, "x-kubernetes-preserve-unknown-fields: true", "$ref: 'file:///etc/passwd'", 1), "'$ref' is not supported"),
		crd("with a hundred levels", nested(100), "may be any value, but is an object in v1"),
		crd("with a thousand levels", nested(1000), "nested deeper than 300 levels"),
		crd("with a pattern that is none", strings.Replace(RuledCRD, "x-kubernetes-preserve-unknown-fields: true", "{type: string, pattern: '('}", 1), "must be a valid regular expression"),
	}
}

func configured(name, file, says string) FileCase {
	return FileCase{
		Name: "config: " + name, Args: []string{"config", "--config", "webhookd.yaml", "--self-signed"},
		Files: map[string]string{"webhookd.yaml": file}, Code: 2, Says: says,
	}
}

func configurations() []FileCase {
	inEnvironment := configured("a secret in the environment", "", "max-body (env WEBHOOKD_MAX_BODY): not a size")
	inEnvironment.Env = []string{"WEBHOOKD_MAX_BODY=" + Canary}
	return []FileCase{
		configured("larger than 1 MiB", strings.Repeat("#", 1<<20+1), "larger than 1 MiB"),
		configured("no UTF-8", "path: /\xff\n", "not YAML"),
		configured("a NUL", "path: \"/\x00\"\n", "not YAML"),
		configured("anchors that multiply", laughs(""), "anchors and aliases are not supported"),
		configured("ten thousand lists in each other", "client-names: "+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000), "client-names (file webhookd.yaml:1): not a list of names"),
		configured("a key with a terminal escape", `"\e[2J": 1`+"\n", `unknown key "\x1b[2J"`),
		configured("a size beyond int64", "max-body: 99999999999Ti\n", "max-body (file webhookd.yaml:1)"),
		configured("a duration beyond int64", "drain-delay: 9999999999999h\n", "drain-delay (file webhookd.yaml:1)"),
		configured("a value with a line break", `log-level: "debug\nforged: 1"`+"\n", "log-level (file webhookd.yaml:1): not one of the choices"),
		configured("a secret in the wrong place", "log-format: "+Canary+"\n", "log-format (file webhookd.yaml:1): not one of the choices"),
		inEnvironment,
	}
}
