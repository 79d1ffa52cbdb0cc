// Package kubeapi is a small client of the Kubernetes API for the verbs that run once, in a Job: it
// reads objects, creates them, and changes them by merge patch and by server-side apply. It is not
// client-go, which would double the memory of an idle webhookd. The server has no access to the API
// and does not use it.
//
// Objects are JSON: a caller decodes what it needs and sends only the fields that it sets, so
// fields that this build does not know are never lost.
package kubeapi
