// Package laws has the verbs that hold converters to the laws of conversion: fuzz and compare. The
// laws are in internal/laws.
package laws
