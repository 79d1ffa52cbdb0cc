// Package convert is the verb convert.
package convert
