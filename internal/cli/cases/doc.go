// Package cases is the verb test: suites of cases, which are objects in files.
package cases
