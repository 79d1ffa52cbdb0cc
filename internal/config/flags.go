package config

import (
	"github.com/spf13/pflag"
)

// Flags adds --config and a flag for every key to fs. The text of a flag is checked by [Load],
// with everything else, so that all problems are seen at once.
func Flags(fs *pflag.FlagSet) {
	file := fileKey()
	fs.String(file.Name, "", file.Usage)
	for _, k := range Keys() {
		if k.Kind == Names {
			fs.StringSlice(k.Name, nil, k.usage())
			continue
		}
		v := &flagText{kind: k.Kind, text: k.Default}
		f := fs.VarPF(v, k.Name, "", k.usage())
		if k.Kind == Bool {
			f.NoOptDefVal = "true"
		}
	}
}

// flagText holds what was written; it implements pflag.Value.
type flagText struct {
	kind Kind
	text string
}

func (v *flagText) String() string { return v.text }
func (v *flagText) Type() string   { return v.kind.String() }

func (v *flagText) Set(text string) error {
	v.text = text
	return nil
}

// usage is the line of --help.
func (k Key) usage() string {
	s := k.Usage
	if k.Kind == Choice {
		s += ": " + choices(k.Choices)
	}
	if k.Zero != "" {
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
