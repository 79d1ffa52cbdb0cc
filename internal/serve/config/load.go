package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/spf13/pflag"
)

// Loaded is a configuration and where it comes from.
type Loaded struct {
	Config   Config
	Origins  Origins
	Warnings []string // to be logged; one line each
	File     string   // path of the configuration file; empty without one

	file, env, flags layer
	bad              map[string]bool // keys whose value could not be read
}

// Load merges the defaults, the file that --config or WEBHOOKD_CONFIG names, environ (as
// os.Environ returns it) and the flags of fs that were set, which [Flags] registered, and
// validates the result. fs may be nil or lack flags. readFile is normally [ReadFile]; it is
// called at most once.
//
// The error joins every [Error]. With an error only the Warnings may be used, and
// [Loaded.ForServe], to report all problems together.
func Load(fs *pflag.FlagSet, environ []string, readFile func(string) ([]byte, error)) (Loaded, error) {
	if fs == nil {
		fs = &pflag.FlagSet{}
	}
	vars := ourVars(environ)
	file := fileKey()
	origin := Origin{Source: FromEnv, Name: file.Env()}
	l := Loaded{Warnings: unknownVars(vars), File: vars[file.Env()]}
	if fs.Changed(file.Name) {
		origin = Origin{Source: FromFlag, Name: file.Name}
		l.File = fs.Lookup(file.Name).Value.String()
	}
	p := &problems{bad: map[string]bool{}}
	l.file = fromFile(l.File, origin, readFile, p)
	l.env = fromEnv(vars, p)
	l.flags = fromFlags(fs, p)
	return l.finish(p)
}

// finish merges and validates.
func (l Loaded) finish(p *problems) (_ Loaded, err error) {
	l.bad = p.bad
	if l.Config, l.Origins, err = merge(l.file, l.env, l.flags); err != nil {
		return l, fmt.Errorf("merging the configuration: %w", err)
	}
	p.origins = l.Origins
	p.validate(l.Config)
	return l, errors.Join(p.all...)
}

// ForServe reports what a server needs in addition to what [Load] checks: a source for its
// certificate.
func (l Loaded) ForServe() error {
	if l.Config.TLSDir != "" || l.Config.SelfSigned || l.bad["tls-dir"] || l.bad["self-signed"] {
		return nil
	}
	return errors.New("tls-dir: no certificate to serve with: set it to a folder with tls.crt and tls.key (--tls-dir DIR), or for local use self-signed (--self-signed)")
}

// Reload reads the configuration file again and returns next: l with the new values of the keys
// that may change while running (Key.Live). restart names the other keys whose value in the file
// would be different now; they keep the old one until the process starts again. Environment and
// flags do not change. On an error, which is like that of [Load], next is l.
func (l Loaded) Reload(readFile func(string) ([]byte, error)) (next Loaded, restart []string, err error) {
	if l.File == "" {
		return l, nil, nil
	}
	p := &problems{bad: map[string]bool{}}
	fresh := l
	fresh.file = fromFile(l.File, Origin{Source: FromFile, Name: l.File}, readFile, p)
	if fresh, err = fresh.finish(p); err != nil {
		return l, nil, err
	}
	next = l
	next.file = maps.Collect(maps.All(l.file))
	before, now := l.Config.values(), fresh.Config.values()
	for _, k := range Keys() {
		e, ok := fresh.file[k.Name]
		switch {
		case k.Live && ok:
			next.file[k.Name] = e
		case k.Live:
			delete(next.file, k.Name)
		case !reflect.DeepEqual(before[k.Name], now[k.Name]):
			restart = append(restart, k.Name)
		}
	}
	next, err = next.finish(&problems{bad: map[string]bool{}})
	return next, restart, err
}
