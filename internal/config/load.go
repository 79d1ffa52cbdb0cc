package config

import (
	"fmt"

	"github.com/spf13/pflag"
)

// Loaded is a configuration with the story of how it came about.
type Loaded struct {
	Config   Config
	Origins  Origins
	Warnings []string // to be logged; one line each
	File     string   // path of the configuration file; empty without one

	layers layers
	bad    map[string]bool // keys whose value couldn't be read
}

// Load merges the defaults, the file that --config or WEBHOOKD_CONFIG names, environ (as
// os.Environ returns it) and the flags of fs that were set, which [Flags] registered, and
// validates the result. fs may be nil or lack flags. readFile is normally [ReadFile]; it is
// called at most once.
//
// The error joins every [Error]. Loaded is then not to be used, but for [Loaded.ForServe],
// whose problems can be told along.
func Load(fs *pflag.FlagSet, environ []string, readFile func(string) ([]byte, error)) (Loaded, error) {
	vars, env, envProblems, warnings := fromEnv(environ)
	flags, flagProblems := fromFlags(fs)
	l := Loaded{Warnings: warnings, layers: layers{env: env, flags: flags, fs: fs}}

	name, origin := filePath(fs, vars)
	l.File = name
	file, problems := readLayer(name, origin, readFile)
	unread := name != "" && file == nil
	l.layers.file = file
	problems = append(append(problems, envProblems...), flagProblems...)
	l.bad = badKeys(problems, unread)
	return l.finish(problems)
}

// finish merges and validates.
func (l Loaded) finish(problems []*Error) (Loaded, error) {
	var err error
	if l.Config, err = merge(l.layers); err != nil {
		return l, fmt.Errorf("merging the configuration: %w", err)
	}
	l.Origins = l.layers.origins()
	problems = append(problems, l.Config.problems(l.Origins, l.bad)...)
	return l, join(problems)
}

// ForServe reports what keeps a configuration from serving beside what [Load] checks: it needs a
// source for its certificate.
func (l Loaded) ForServe() error {
	return join(l.Config.apply(serveRules(), l.Origins, l.bad))
}

// Reload reads the configuration file again and returns next: l with the new values of the keys
// that may change while running (Key.Live). restart names the other keys whose value in the file
// would be different now; they keep the old one until the process starts again. Environment and
// flags stay what they were. On an error, which is as that of [Load], next is l.
func (l Loaded) Reload(readFile func(string) ([]byte, error)) (next Loaded, restart []string, err error) {
	if l.File == "" {
		return l, nil, nil
	}
	file, problems := readLayer(l.File, Origin{Source: FromFile, Name: l.File}, readFile)
	fresh := l
	fresh.layers.file = file
	fresh.bad = badKeys(problems, file == nil)
	if fresh, err = fresh.finish(problems); err != nil {
		return l, nil, err
	}
	kept := layer{}
	next = l
	for _, k := range Keys() {
		from := l.layers.file
		if k.Live {
			from = file
		} else if k.render(l.Config) != k.render(fresh.Config) {
			restart = append(restart, k.Name)
		}
		if e, ok := from[k.Name]; ok {
			kept[k.Name] = e
		}
	}
	next.layers.file = kept
	next, err = next.finish(nil)
	return next, restart, err
}

// filePath returns the path of the configuration file and who named it.
func filePath(fs *pflag.FlagSet, vars map[string]string) (string, Origin) {
	k := fileKey()
	if f, ok := changed(fs, k.Name); ok {
		return f.Value.String(), Origin{Source: FromFlag, Name: k.Name}
	}
	return vars[k.Env()], Origin{Source: FromEnv, Name: k.Env()}
}

// readLayer returns nil with problems when nothing of the file could be used.
func readLayer(name string, origin Origin, readFile func(string) ([]byte, error)) (layer, []*Error) {
	if name == "" {
		return nil, nil
	}
	text, err := readFile(name)
	if err != nil {
		return nil, []*Error{{Key: fileKey().Name, Origin: origin, Text: "cannot be read", Err: unread(name, err)}}
	}
	return fromFile(name, text)
}

// badKeys returns the keys that problems name; all of them when a file wasn't read.
func badKeys(problems []*Error, unread bool) map[string]bool {
	bad := map[string]bool{}
	for _, p := range problems {
		bad[p.Key], bad[p.meant] = true, true
	}
	for _, k := range Keys() {
		bad[k.Name] = bad[k.Name] || unread
	}
	return bad
}
