package config

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"
)

// Flags adds --config and a flag for every key to fs. The text of a flag is checked by [Load],
// with everything else, so that all problems are seen at once.
func Flags(fs *pflag.FlagSet) {
	file := fileKey()
	fs.Var(&flagText{arg: file.arg()}, file.Name, file.Usage)
	for _, k := range Keys() {
		if k.Kind == Names {
			fs.StringSlice(k.Name, nil, strings.Replace(k.usage(), k.arg(), "`"+k.arg()+"`", 1))
			continue
		}
		v := &flagText{arg: k.arg(), text: k.Default}
		f := fs.VarPF(v, k.Name, "", k.usage())
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
func (k Key) arg() string { return cmp.Or(k.Arg, k.Kind.String()) }

// usage is the line of --help.
func (k Key) usage() string {
	s := k.Usage
	if k.Kind == Choice {
		s += ": " + choices(k.Choices)
	}
	switch {
	case k.Zero != "" && k.Default == "0": // which pflag does not show
		s += "; 0, the default: " + k.Zero
	case k.Zero != "":
		s += "; 0: " + k.Zero
	}
	if k.Local != "" {
		s += "; with self-signed the default is " + k.Local
	}
	return s
}

// changed returns the flag of a key when it was set on the command line.
func changed(fs *pflag.FlagSet, name string) (*pflag.Flag, bool) {
	if fs == nil {
		return nil, false
	}
	f := fs.Lookup(name)
	return f, f != nil && f.Changed
}

// fromFlags reads the flags that were set.
func fromFlags(fs *pflag.FlagSet) (layer, []*Error) {
	l, problems := layer{}, []*Error(nil)
	for _, k := range Keys() {
		f, ok := changed(fs, k.Name)
		if !ok {
			continue
		}
		e := entry{origin: Origin{Source: FromFlag, Name: k.Name}, value: f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			e.value = list.GetSlice()
		}
		problems = append(problems, l.add(k, e)...)
	}
	return l, problems
}
