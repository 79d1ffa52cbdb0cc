// Package offline is the one way in which verbs read rules, CRDs and objects, and convert objects
// without a server. Begin with [Converter]. It knows no verb and no cluster.
package offline
