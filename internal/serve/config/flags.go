package config

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"
)

// Flags adds --config and a flag for every key to fs. The text of a flag is checked by [Load], with
// everything else, so that all problems are reported at once.
func Flags(fs *pflag.FlagSet) {
	for _, k := range append([]Key{fileKey()}, Keys()...) {
		if k.Kind == Names {
			fs.StringSlice(k.Name, nil, strings.Replace(k.usage(), k.arg(), "`"+k.arg()+"`", 1))
			continue
		}
		f := fs.VarPF(&flagText{arg: k.arg(), text: k.Default}, k.Name, "", k.usage())
		if k.Kind == Bool {
			f.NoOptDefVal = "true"
		}
	}
}

// flagText holds what was written; it implements pflag.Value.
type flagText struct{ arg, text string }

func (v *flagText) String() string { return v.text }
func (v *flagText) Type() string   { return v.arg }

func (v *flagText) Set(text string) error {
	v.text = text
	return nil
}

// arg is what --help calls the value.
func (k Key) arg() string { return cmp.Or(k.Arg, k.Kind.text().arg) }

// usage is the line of --help.
func (k Key) usage() string {
	s := k.Usage
	if k.Kind == Choice {
		s += ": " + choices(k.Choices)
	}
	if k.Zero != "" && k.Default == "0" { // which pflag does not show
		s += "; 0, the default: " + k.Zero
	} else if k.Zero != "" {
		s += "; 0: " + k.Zero
	}
	if k.Local != "" {
		s += "; with self-signed the default is " + k.Local
	}
	return s
}

// fromFlags reads the flags that were set.
func fromFlags(fs *pflag.FlagSet, p *problems) layer {
	l := layer{}
	for _, k := range Keys() {
		if !fs.Changed(k.Name) {
			continue
		}
		value := fs.Lookup(k.Name).Value
		text, list := value.String(), []string(nil)
		if names, ok := value.(pflag.SliceValue); ok {
			text, list = "", names.GetSlice()
		}
		l.add(k, text, list, Origin{Source: FromFlag, Name: k.Name}, p)
	}
	return l
}
