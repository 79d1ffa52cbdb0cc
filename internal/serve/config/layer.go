package config

import (
	"maps"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// layer is what one source says, by the name of the key.
type layer map[string]entry

// entry is a value that Key.parse returned, and where it was written.
type entry struct {
	value  any
	origin Origin
}

// add parses what was written for k, as Key.parse takes it.
func (l layer) add(k Key, text string, list []string, from Origin, p *problems) {
	value, err := k.parse(text, list)
	if err != nil {
		p.add(k.Name, from, err)
		return
	}
	l[k.Name] = entry{value, from}
}

// merge lays the layers, lowest first, over the defaults.
func merge(layers ...layer) (Config, Origins, error) {
	// viper knows neither lines of a file nor an environment that is passed in, so it gets values.
	all := layer{}
	for _, l := range layers {
		maps.Copy(all, l)
	}
	v, origins := viper.New(), Origins{}
	for name, e := range all {
		v.Set(name, e.value)
		origins[name] = e.origin
	}
	for _, k := range Keys() {
		text := k.Default
		if k.Local != "" && v.GetBool("self-signed") {
			text = k.Local
		}
		value, err := k.parse(text, nil)
		if err != nil {
			return Config{}, nil, err
		}
		v.SetDefault(k.Name, value)
	}
	var c Config
	err := v.UnmarshalExact(&c)
	c.Path = strings.TrimSuffix(c.Path, "/")
	return c, origins, err
}

// values is the reverse of merge: the value of each key by its name.
func (c Config) values() map[string]any {
	values := map[string]any{}
	if err := mapstructure.Decode(c, &values); err != nil {
		panic("config: the fields as a map: " + err.Error())
	}
	return values
}
