// Command jq is what the documentation's commands need of jq, on machines that have none: it
// applies a filter to the JSON on standard input.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/itchyny/gojq"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "jq: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want a filter", len(args))
	}
	filter, err := gojq.Parse(args[0])
	if err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	in.UseNumber()
	var document any
	if err := in.Decode(&document); err != nil {
		return err
	}
	results, out := filter.Run(document), json.NewEncoder(os.Stdout)
	for {
		switch v, more := results.Next(); v := v.(type) {
		case error:
			return v
		default:
			if !more {
				return nil
			}
			if err := out.Encode(v); err != nil {
				return err
			}
		}
	}
}
