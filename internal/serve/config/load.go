package config

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Loaded is a configuration and where it comes from.
type Loaded struct {
	Config   Config
	Origins  Origins
	Warnings []string // to be logged; one line each
	File     string   // path of the configuration file; empty without one

	bad map[string]bool // keys whose value could not be read
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
	layers := []layer{fromFile(l.File, origin, readFile, p), fromEnv(vars, p), fromFlags(fs, p)}
	l.bad = p.bad
	var err error
	if l.Config, l.Origins, err = merge(layers...); err != nil {
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
