package config

// Default returns the configuration in effect where nothing is set.
func Default() Config {
	c, _, err := merge()
	if err != nil {
		panic("config: a default in the table of keys: " + err.Error())
	}
	return c
}
