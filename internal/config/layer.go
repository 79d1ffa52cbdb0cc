package config

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// layer is what one source says, by the name of the key. Each value has passed Key.check.
type layer map[string]entry

// entry is a value as it was written: a string, or a []string of a list.
type entry struct {
	value  any
	origin Origin
}

// add checks e and keeps it when it's good.
func (l layer) add(k Key, e entry) []*Error {
	if err := k.checkEntry(e); err != nil {
		return []*Error{{Key: k.Name, Origin: e.origin, Text: err.Error()}}
	}
	l[k.Name] = e
	return nil
}

func (k Key) checkEntry(e entry) error {
	switch v := e.value.(type) {
	case string:
		return k.check(v)
	case []string:
		for _, item := range v {
			if err := k.check(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l layer) values() map[string]any {
	m := make(map[string]any, len(l))
	for name, e := range l {
		m[name] = e.value
	}
	return m
}

// layers are the sources above the defaults, lowest first.
type layers struct {
	file, env, flags layer
	fs               *pflag.FlagSet
}

// origins says for every key which layer wins.
func (l layers) origins() Origins {
	o := Origins{}
	for _, k := range Keys() {
		o[k.Name] = Origin{}
	}
	for _, from := range []layer{l.file, l.env, l.flags} {
		for name, e := range from {
			o[name] = e.origin
		}
	}
	return o
}

// merge lays the layers over the defaults.
func merge(l layers) (Config, error) {
	v := viper.New()
	for _, k := range Keys() {
		if k.Kind == Names {
			v.SetDefault(k.Name, []string{})
		} else {
			v.SetDefault(k.Name, k.Default)
		}
		if _, ok := l.flags[k.Name]; !ok {
			continue
		}
		if err := v.BindPFlag(k.Name, l.fs.Lookup(k.Name)); err != nil {
			return Config{}, fmt.Errorf("binding flag --%s: %w", k.Name, err)
		}
	}
	// viper reads the process's environment only; ours was passed in.
	lower := l.file.values()
	maps.Copy(lower, l.env.values())
	if err := v.MergeConfigMap(lower); err != nil {
		return Config{}, fmt.Errorf("merging file and environment: %w", err)
	}
	if v.GetBool("self-signed") {
		for _, k := range Keys() {
			if k.Local != "" {
				v.SetDefault(k.Name, k.Local)
			}
		}
	}
	var c Config
	if err := v.UnmarshalExact(&c, viper.DecodeHook(decodeText)); err != nil {
		return Config{}, err
	}
	c.Path = trimSlash(c.Path)
	return c, nil
}

// decodeText is the mapstructure hook that reads every value with the parser that checked it.
func decodeText(_, to reflect.Type, data any) (any, error) {
	text, ok := data.(string)
	if !ok {
		return data, nil
	}
	switch to {
	case reflect.TypeFor[time.Duration]():
		return time.ParseDuration(text)
	case reflect.TypeFor[Bytes]():
		return ParseBytes(text)
	case reflect.TypeFor[TLSVersion]():
		return ParseTLSVersion(text)
	case reflect.TypeFor[int]():
		return strconv.Atoi(text)
	case reflect.TypeFor[bool]():
		return strconv.ParseBool(text)
	}
	return data, nil
}

// text returns the value that c has for k, in text form; list is set for a list.
func (k Key) text(c Config) (text string, list []string) {
	v := reflect.ValueOf(c)
	for f, field := range v.Fields() {
		if f.Tag.Get("mapstructure") != k.Name {
			continue
		}
		switch x := field.Interface().(type) {
		case time.Duration:
			return formatDuration(x), nil
		case []string:
			return "", x
		default:
			return fmt.Sprint(x), nil
		}
	}
	return "", nil
}
