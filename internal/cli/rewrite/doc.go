// Package rewrite is the verb rewrite: it converts the objects of files where they are.
package rewrite
