// Package library turns what users of the public packages give into what the rest of webhookd works
// with.
package library

import (
	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
)

// Kinds returns kinds in the order of their names. It fails as [conversion.NewRegistry] does.
func Kinds(kinds ...conversion.Kind) ([]converters.Kind, error) {
	r, err := conversion.NewRegistry(kinds...)
	if err != nil {
		return nil, err
	}
	return Registered(r), nil
}

// Registered returns the kinds of a registry.
func Registered(r *conversion.Registry) []converters.Kind {
	var all []converters.Kind
	for _, k := range r.Kinds() {
		// Kinds of a registry have this method, which no documentation shows.
		if made, is := k.Converter.(interface{ Internal() converters.Kind }); is {
			all = append(all, made.Internal())
		}
	}
	return all
}
