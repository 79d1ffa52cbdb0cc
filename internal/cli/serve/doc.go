// Package serve has the verbs serve and config. The server itself is in internal/serve.
package serve
