// Package upstream_test converts kinds of public projects by rules, and compares the results with
// those of the projects' own conversions, which are recorded in the folders of kinds.
package upstream_test
